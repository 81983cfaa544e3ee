package dev.millrace.mirror.cli;

import dev.millrace.mirror.text.Json;
import dev.millrace.mirror.verify.Difference;
import dev.millrace.mirror.verify.Fault;
import dev.millrace.mirror.verify.PartitionResult;
import dev.millrace.mirror.verify.TopicResult;
import dev.millrace.mirror.verify.VerifyResult;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Formats what was found in one topic as a JSON object in one line. */
final class VerifyJson {
    private VerifyJson() {}

    static String format(VerifyResult result, TopicResult topic) {
        return String.format(
                Locale.ROOT,
                "{\"topic\":%s,\"result\":%s,\"target_topic\":%s,\"compacted\":%b,\"timestamps_compared\":%b,\"partitions\":%d,\"source\":%d,"
                        + "\"target\":%d,\"same\":%d,%s,\"not_copied_yet\":%d,\"deleted_on_target\":%d,\"deleted_on_source\":%d,"
                        + "\"first_differences\":%s,\"problems\":%s}",
                Json.quote(topic.topic()),
                Json.quote(outcome(result, topic)),
                Json.quote(topic.name()),
                topic.isCompacted(),
                topic.areTimestampsCompared(),
                topic.partitions().size(),
                topic.sum(PartitionResult::source),
                topic.sum(PartitionResult::target),
                topic.sum(PartitionResult::same),
                Arrays.stream(Fault.values())
                        .map(fault -> Json.quote(name(fault)) + ":" + topic.count(fault))
                        .collect(Collectors.joining(",")),
                topic.sum(PartitionResult::notCopiedYet),
                topic.sum(PartitionResult::notOnTarget),
                topic.sum(PartitionResult::notOnSource),
                list(topic.first().stream().map(VerifyJson::format).toList()),
                list(topic.problems().stream().map(Json::quote).toList()));
    }

    private static String outcome(VerifyResult result, TopicResult topic) {
        if (result.isDifferent(topic)) {
            return "different";
        }
        return topic.problems().isEmpty() ? "same" : "unclear";
    }

    private static String format(Difference difference) {
        return String.format(
                Locale.ROOT,
                "{\"fault\":%s,\"partition\":%d,\"records\":%d,\"source_offsets\":%s,\"target_offsets\":%s}",
                Json.quote(name(difference.fault())),
                difference.partition(),
                difference.records(),
                format(difference.source()),
                format(difference.target()));
    }

    private static String format(Difference.Offsets offsets) {
        return offsets.isNone() ? "null" : "[" + offsets.first() + "," + offsets.last() + "]";
    }

    private static String name(Fault fault) {
        return fault.toString().replace(' ', '_');
    }

    private static String list(List<String> elements) {
        return "[" + String.join(",", elements) + "]";
    }
}
