package dev.millrace.mirror.cli;

import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.text.Words;
import dev.millrace.mirror.verify.Difference;
import dev.millrace.mirror.verify.Fault;
import dev.millrace.mirror.verify.PartitionResult;
import dev.millrace.mirror.verify.TopicResult;
import dev.millrace.mirror.verify.VerifyResult;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.AdminClientConfig;

/** Prints the result: a row for each topic, its first differences, and a summary line. */
record VerifyTable(MirrorConfig config, VerifyResult result, OptionalLong sample) {
    void print(PrintWriter out) {
        out.printf(
                "source    %s (cluster %s)%n",
                config.consumer().get(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG), result.sourceId());
        out.printf(
                "target    %s (cluster %s)%n",
                config.producer().get(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG), result.targetId());
        out.printf(
                "group     %s on the %s%s%n",
                result.positions().group(),
                result.positions().isGroupOnTarget() ? "target" : "source",
                result.positions().committed().isEmpty()
                        ? "; it has no position, so all that is missing at the end counts as not copied yet"
                        : "");
        out.printf(
                "compared  %s%n%n",
                sample.isEmpty()
                        ? "all records"
                        : "the last " + Words.count(sample.getAsLong(), "record") + " of each partition of the target");
        NameColumn names = NameColumn.of(
                "topic", result.topics().stream().map(topic -> config.names().describe(topic.topic())));
        String row = "%s  %10s  %14s  %14s  %14s  %14s  %s%n";
        out.printf(
                Locale.ROOT,
                row,
                names.cell("topic"),
                "partitions",
                "source",
                "target",
                "same",
                "not copied yet",
                "result");
        for (TopicResult topic : result.topics()) {
            out.printf(
                    Locale.ROOT,
                    row,
                    names.cell(config.names().describe(topic.topic())),
                    topic.partitions().size(),
                    Words.number(topic.sum(PartitionResult::source)),
                    Words.number(topic.sum(PartitionResult::target)),
                    Words.number(topic.sum(PartitionResult::same)),
                    Words.number(topic.sum(PartitionResult::notCopiedYet)),
                    outcome(topic));
            topic.first().stream().map(Difference::describe).forEach(line -> out.printf("    %s%n", line));
            notes(topic).forEach(note -> out.printf("    %s%n", note));
        }
        out.printf("%n%s%n", summary());
    }

    private String outcome(TopicResult topic) {
        if (!topic.faults().isEmpty()) {
            return faults(topic) + (result.isDifferent(topic) ? "" : ", which at least once allows");
        }
        return topic.problems().isEmpty() ? "same" : "unclear";
    }

    private static String faults(TopicResult topic) {
        return topic.faults().entrySet().stream().map(VerifyTable::describe).collect(Collectors.joining(", "));
    }

    private static String describe(Map.Entry<Fault, Long> fault) {
        return Words.number(fault.getValue()) + " " + fault.getKey();
    }

    private List<String> notes(TopicResult topic) {
        List<String> notes = new ArrayList<>();
        if (topic.isCompacted()) {
            notes.add("compacted: numbers are of keys, of which the last records are compared");
        }
        if (!topic.areTimestampsCompared()) {
            notes.add("timestamps are not compared: the target replaces them, or the source has none");
        }
        long deletedThere = topic.sum(PartitionResult::notOnTarget);
        long deletedHere = topic.sum(PartitionResult::notOnSource);
        if (sample.isEmpty() && deletedThere > 0) {
            boolean mayBeginLater =
                    !config.policies().starts().of(topic.topic()).isEarliest();
            notes.add("the target " + (mayBeginLater ? "does not have" : "no longer has") + " the first "
                    + Words.count(deletedThere, "record") + " of the source"
                    + (mayBeginLater ? ": the mirror may have begun after them, or the target has deleted them" : ""));
        }
        if (sample.isEmpty() && deletedHere > 0) {
            notes.add("the source no longer has " + Words.count(deletedHere, "record") + " of the target");
        }
        notes.addAll(topic.problems());
        return notes;
    }

    private String summary() {
        int different = result.different().size();
        long unclear = result.unclear().stream()
                .filter(topic -> !result.isDifferent(topic))
                .count();
        List<String> words = new ArrayList<>();
        words.add(Words.number(result.topics().size() - different - unclear) + " the same");
        if (different > 0) {
            words.add(Words.number(different) + " different");
        }
        if (unclear > 0) {
            words.add(Words.number(unclear) + " unclear");
        }
        return Words.count(result.topics().size(), "topic") + ": " + String.join(", ", words) + "; "
                + Words.count(result.sum(PartitionResult::same), "record") + " the same, "
                + Words.number(result.sum(PartitionResult::notCopiedYet)) + " not copied yet";
    }
}
