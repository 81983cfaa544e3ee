package dev.millrace.mirror.http;

import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.control.ByteRate;
import dev.millrace.mirror.status.LatencyCounts;
import dev.millrace.mirror.status.MemberStatus;
import dev.millrace.mirror.status.MirrorStatus;
import dev.millrace.mirror.status.PartitionStatus;
import dev.millrace.mirror.text.Json;
import java.util.List;
import java.util.Map;

/** Formats what a mirror does as the JSON that the status page and {@code mirror status} read. */
final class StatusJson {
    private final Json json = new Json().beginObject();

    private StatusJson() {}

    /**
     * @param events the oldest first
     * @param canChange whether there is a token that allows changes
     */
    static String format(MirrorStatus status, List<LogEvent> events, boolean canChange) {
        StatusJson text = new StatusJson();
        text.addCondition(status);
        text.json.name("controls").value(status.controls().describe());
        text.json.name("canChange").value(canChange);
        text.addTotals(status);
        text.addPartitions(status);
        text.addMembers(status);
        text.addEvents(status.events(), events);
        return text.json.endObject().toString();
    }

    private void addCondition(MirrorStatus status) {
        MirrorStatus.Condition condition = status.condition();
        json.name("state").value(condition.state().toString());
        json.name("failure").value(condition.failure());
        json.name("obstacle").value(condition.obstacle());
        json.name("warning").value(status.warning());
        json.name("upSeconds").value(condition.upSeconds());
        json.name("atMs").value(System.currentTimeMillis());
        MirrorStatus.Clusters clusters = status.clusters();
        json.name("source").value(clusters.source());
        json.name("target").value(clusters.target());
        json.name("sourceAnswers").value(condition.isSourceAnswering());
        json.name("targetAnswers").value(condition.isTargetAnswering());
        json.name("group").value(clusters.group());
        json.name("mode").value(clusters.mode().toString());
        json.name("resume").value(clusters.resume().toString());
        json.name("threads").value(clusters.threads());
    }

    private void addTotals(MirrorStatus status) {
        json.name("records").value(status.totals().acked());
        json.name("fetchedBytes").value(status.bytes().fetched());
        json.name("writtenBytes").value(status.bytes().written());
        json.name("inFlightRecords").value(status.totals().inFlight());
        json.name("inFlightBytes").value(status.memory().usedBytes());
        json.name("inFlightLimitBytes").value(status.memory().totalBytes());
        json.name("lag").value(status.totals().lag());
        json.name("isLagKnown").value(status.totals().isLagKnown());
        json.name("catchUpSeconds").value(status.catchUpSeconds());
        LatencyCounts latency = status.partitions().stream()
                .map(PartitionStatus::latency)
                .reduce(LatencyCounts::plus)
                .orElse(new LatencyCounts(new long[0], new long[1], 0));
        json.name("latency").beginObject();
        addNumbers("boundsMs", latency.boundsMs());
        addNumbers("counts", latency.counts());
        json.endObject();
    }

    private void addNumbers(String name, long[] numbers) {
        json.name(name).beginArray();
        for (long number : numbers) {
            json.value(number);
        }
        json.endArray();
    }

    private void addPartitions(MirrorStatus status) {
        json.name("partitions").beginArray();
        PartitionRows.of(status.partitions()).forEach((labels, row) -> {
            json.beginObject();
            json.name("name").value(name(labels, status.clusters().names()));
            json.name("isOwned").value(row.isOwned());
            json.name("records").value(row.records());
            json.name("bytes").value(row.bytes());
            json.name("inFlight").value(row.inFlight());
            json.name("lag").value(row.lagRecords() < 0 ? Double.NaN : (double) row.lagRecords());
            json.name("lagSeconds").value(row.lagSeconds());
            json.name("stall")
                    .value(row.stallOrNull() == null ? null : row.stallOrNull().toString());
            boolean isOfTopic = !labels.isEmpty();
            json.name("topic").value(isOfTopic ? row.topic() : null);
            json.name("isPaused").value(isOfTopic && status.controls().isPaused(row.topic()));
            json.name("throttle").value(isOfTopic ? status.controls().throttleOf(row.topic()) : ByteRate.NONE);
            json.endObject();
        });
        json.endArray();
    }

    private static String name(List<String> labels, TopicNames names) {
        return switch (labels.size()) {
            case 4 -> names.describe(labels.get(1), "-" + labels.get(3));
            case 2 -> names.describe(labels.get(1), "");
            default -> "all topics";
        };
    }

    private void addMembers(MirrorStatus status) {
        json.name("members").beginArray();
        for (MemberStatus member : status.members()) {
            json.beginObject();
            json.name("name").value(member.name());
            json.name("isMember").value(member.isMember());
            json.name("partitions").value(member.partitions());
            json.name("silentSeconds").value(member.silentSeconds());
            json.endObject();
        }
        json.endArray();
    }

    private void addEvents(MirrorStatus.Events counts, List<LogEvent> events) {
        json.name("counts").beginObject();
        json.name("gaps").value(counts.gaps().getGaps());
        json.name("records lost in gaps").value(counts.gaps().getRecordsSkipped());
        json.name("truncations").value(counts.gaps().getTruncations());
        json.name("partitions begun anew").value(counts.recreated());
        json.name("dead letters").value(counts.refused().getRecordsDeadLettered());
        json.name("refused records skipped").value(counts.refused().getRecordsSkipped());
        json.name("partitions stopped")
                .value(counts.gaps().getPartitionsStopped() + counts.refused().getPartitionsStopped());
        json.name("topics refused because of their names").value(counts.refusedTopics());
        for (Map.Entry<?, Double> stall : counts.stallSeconds().entrySet()) {
            json.name("seconds stalled, " + stall.getKey()).value(stall.getValue());
        }
        json.endObject();
        json.name("events").beginArray();
        for (LogEvent event : events) {
            json.beginObject();
            json.name("atMs").value(event.atMs());
            json.name("level").value(event.level());
            json.name("text").value(event.text());
            json.endObject();
        }
        json.endArray();
    }
}
