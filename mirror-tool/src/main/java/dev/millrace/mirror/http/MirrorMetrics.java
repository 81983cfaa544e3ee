package dev.millrace.mirror.http;

import dev.millrace.mirror.control.ByteRate;
import dev.millrace.mirror.control.ControlState;
import dev.millrace.mirror.status.LatencyCounts;
import dev.millrace.mirror.status.MirrorState;
import dev.millrace.mirror.status.MirrorStatus;
import dev.millrace.mirror.status.PartitionStatus;
import dev.millrace.mirror.status.StallCause;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;

/**
 * The metrics of a mirror, for Prometheus. {@link PartitionRows} bounds those of partitions; latencies, with 18 series
 * each, are reported by topic up to 100 topics.
 */
final class MirrorMetrics {
    private static final int MAX_HISTOGRAMS = 100;
    private static final String PREFIX = "millrace_mirror_";

    private final MirrorStatus status;
    private final PrometheusText text = new PrometheusText();

    private MirrorMetrics(MirrorStatus status) {
        this.status = status;
    }

    static String format(MirrorStatus status) {
        MirrorMetrics metrics = new MirrorMetrics(status);
        metrics.addCondition();
        metrics.addPartitions();
        metrics.addLatency();
        metrics.addInFlight();
        metrics.addStalls();
        metrics.addControls();
        metrics.addEvents();
        return metrics.text.toString();
    }

    private void addCondition() {
        MirrorStatus.Clusters clusters = status.clusters();
        gauge("info", "What is mirrored by whom; always 1.")
                .add(
                        1,
                        "source",
                        clusters.source(),
                        "target",
                        clusters.target(),
                        "group",
                        clusters.group(),
                        "mode",
                        clusters.mode().toString(),
                        "resume",
                        clusters.resume().toString());
        MirrorStatus.Condition condition = status.condition();
        gauge("state", "1 for what the mirror does, 0 for all else.");
        for (MirrorState state : MirrorState.values()) {
            text.add(state == condition.state() ? 1 : 0, "state", state.toString());
        }
        gauge("healthy", "1 while the process works, 0 once it has failed or hangs; as /healthz.")
                .add(condition.isHealthy() ? 1 : 0);
        gauge("ready", "1 while all partitions of the process are mirrored, 0 while something hinders; as /readyz.")
                .add(condition.isReady() ? 1 : 0);
        gauge("cluster_up", "1 while the cluster answers.")
                .add(condition.isSourceAnswering() ? 1 : 0, "cluster", "source")
                .add(condition.isTargetAnswering() ? 1 : 0, "cluster", "target");
        if (!status.certificates().isEmpty()) {
            gauge(
                    "certificate_expiry_timestamp_seconds",
                    "When the certificate that the mirror shows to the cluster expires, in seconds since 1970.");
            status.certificates()
                    .forEach(certificate -> text.add(
                            certificate.expiry().getEpochSecond(),
                            "cluster",
                            certificate.cluster().label()));
        }
        gauge("uptime_seconds", "Since the start of the process's mirror.").add(condition.upSeconds());
    }

    private void addPartitions() {
        Map<List<String>, PartitionStatus> rows = PartitionRows.of(status.partitions());
        counter("records_total", "Records that the target has acknowledged.");
        add(rows, PartitionStatus::records);
        counter("bytes_total", "Bytes of these records as they were sent.");
        add(rows, PartitionStatus::bytes);
        counter("fetched_bytes_total", "Batches of the source to be copied, as it has them compressed.")
                .add(status.bytes().fetched());
        counter("written_bytes_total", "Batches sent to the target, as they are compressed there.")
                .add(status.bytes().written());
        rows.values().removeIf(row -> !row.isOwned());
        gauge("lag_records", "Offsets of the source that the target has not acknowledged, as far as they are known.");
        add(rows, row -> row.lagRecords() < 0 ? Double.NaN : (double) row.lagRecords());
        gauge("lag_seconds", "Upper bound on the age of the oldest record that the target lacks.");
        add(rows, PartitionStatus::lagSeconds);
        gauge("lag_known", "1 if the lag in records is current for all partitions, 0 if there may be more.")
                .add(status.totals().isLagKnown() ? 1 : 0);
        gauge(
                        "catch_up_seconds",
                        "Until the lag is gone if it goes on to fall as in the last minute; NaN if that cannot be told.")
                .add(status.catchUpSeconds());
        gauge("assigned_partitions", "Partitions that this process owns.")
                .add(status.partitions().stream()
                        .filter(PartitionStatus::isOwned)
                        .count());
    }

    private void add(Map<List<String>, PartitionStatus> rows, ToDoubleFunction<PartitionStatus> value) {
        rows.forEach((labels, row) -> {
            if (!Double.isNaN(value.applyAsDouble(row))) {
                text.add(value.applyAsDouble(row), labels.toArray(String[]::new));
            }
        });
    }

    private void addLatency() {
        text.histogram(
                PREFIX + "latency_seconds",
                "Time from a record's timestamp on the source to its acknowledgement by the target.");
        Map<List<String>, LatencyCounts> sums = new LinkedHashMap<>();
        boolean isByTopic = status.partitions().stream()
                        .map(PartitionStatus::topic)
                        .distinct()
                        .count()
                <= MAX_HISTOGRAMS;
        status.partitions()
                .forEach(row -> sums.merge(
                        isByTopic ? List.of("topic", row.topic()) : List.of(), row.latency(), LatencyCounts::plus));
        sums.forEach((labels, counts) -> text.add(counts, labels.toArray(String[]::new)));
    }

    private void addInFlight() {
        gauge("in_flight_records", "Records sent that the target has not acknowledged.")
                .add(status.totals().inFlight());
        MirrorStatus.ProducerMemory memory = status.memory();
        gauge("in_flight_bytes", "Memory that the producer uses for what is not acknowledged.")
                .add(memory.usedBytes());
        gauge("in_flight_limit_bytes", "Memory that the producer may use: buffer.memory.")
                .add(memory.totalBytes());
        counter("memory_wait_seconds_total", "Time for which threads have waited for this memory, added up.")
                .add(memory.waitSeconds());
    }

    private void addStalls() {
        gauge("stalled_partitions", "Partitions of which nothing more can be written at the moment.");
        for (StallCause cause : StallCause.values()) {
            text.add(
                    status.partitions().stream()
                            .filter(row -> row.stallOrNull() == cause)
                            .count(),
                    "cause",
                    cause.toString());
        }
        counter("stall_seconds_total", "Time for which partitions have stalled, added up.");
        status.events().stallSeconds().forEach((cause, seconds) -> text.add(seconds, "cause", cause.toString()));
    }

    private void addControls() {
        ControlState controls = status.controls();
        Set<String> topics = new TreeSet<>();
        status.partitions().stream().filter(PartitionStatus::isOwned).forEach(row -> topics.add(row.topic()));
        gauge("paused_partitions", "Partitions of this process whose topic is paused.")
                .add(status.partitions().stream()
                        .filter(row -> row.isOwned() && controls.isPaused(row.topic()))
                        .count());
        gauge("paused", "1 for each topic that is paused.");
        topics.stream()
                .filter(controls::isPaused)
                .limit(PartitionRows.MAX_ROWS)
                .forEach(topic -> text.add(1, "topic", topic));
        gauge("throttle_bytes_per_second", "The limit of each topic that has one; without a topic, of all together.");
        if (controls.throttleOfAll() != ByteRate.NONE) {
            text.add(controls.throttleOfAll());
        }
        topics.stream()
                .filter(topic -> controls.throttleOf(topic) != ByteRate.NONE)
                .limit(PartitionRows.MAX_ROWS)
                .forEach(topic -> text.add(controls.throttleOf(topic), "topic", topic));
    }

    private void addEvents() {
        MirrorStatus.Events events = status.events();
        counter("gaps_total", "How often the source no longer had the records to be read next.")
                .add(events.gaps().getGaps());
        counter("gap_records_total", "Offsets that were skipped in these gaps.")
                .add(events.gaps().getRecordsSkipped());
        counter("truncations_total", "How often the source no longer had records that were read already.")
                .add(events.gaps().getTruncations());
        counter("recreated_partitions_total", "Partitions that began anew, because their topic was created again.")
                .add(events.recreated());
        counter("refused_records_total", "Records that the target refused, by what was done with them.")
                .add(events.refused().getRecordsDeadLettered(), "policy", "dead-letter")
                .add(events.refused().getRecordsSkipped(), "policy", "skip");
        gauge("refused_topics", "Topics that are not mirrored because of the names that they would have on the target.")
                .add(events.refusedTopics());
        counter("stopped_partitions_total", "Partitions that a policy has stopped.")
                .add(events.gaps().getPartitionsStopped(), "option", "on-gap")
                .add(events.refused().getPartitionsStopped(), "option", "on-refused");
    }

    private PrometheusText gauge(String name, String help) {
        return text.gauge(PREFIX + name, help);
    }

    private PrometheusText counter(String name, String help) {
        return text.counter(PREFIX + name, help);
    }
}
