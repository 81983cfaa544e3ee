package dev.millrace.mirror.run;

import dev.millrace.mirror.cluster.ClusterProbe;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.control.Lifecycle;
import dev.millrace.mirror.control.TopicControls;
import dev.millrace.mirror.member.Member;
import dev.millrace.mirror.member.MirrorMembers;
import dev.millrace.mirror.progress.SourceGaps;
import dev.millrace.mirror.progress.TopicIdentities;
import dev.millrace.mirror.refused.RefusedRecordReport;
import dev.millrace.mirror.status.CatchUpEstimate;
import dev.millrace.mirror.status.ClientCertificate;
import dev.millrace.mirror.status.MemberStatus;
import dev.millrace.mirror.status.MirrorState;
import dev.millrace.mirror.status.MirrorStatus;
import dev.millrace.mirror.status.MirrorStatus.Bytes;
import dev.millrace.mirror.status.MirrorStatus.Condition;
import dev.millrace.mirror.status.MirrorStatus.Events;
import dev.millrace.mirror.status.MirrorStatus.ProducerMemory;
import dev.millrace.mirror.status.MirrorTotals;
import dev.millrace.mirror.status.PartitionCounters;
import dev.millrace.mirror.status.PartitionStatus;
import dev.millrace.mirror.status.StallTimes;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import dev.millrace.mirror.topics.RefusedTopics;
import dev.millrace.mirror.topics.TargetWatch;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports what a mirror does. It only reads what other threads count; no thread waits for it.
 *
 * <p><b>Threads:</b> the thread that runs the mirror sets what is read, one timer calls {@link #look}, any thread calls
 * the queries.
 * <p><b>Ordering:</b> what is set is published by a volatile store; see the counters for the rest.
 */
final class Monitor {
    private static final Logger LOG = LoggerFactory.getLogger(Monitor.class);

    private final Lifecycle lifecycle;
    private final TopicControls controls;
    private final MirrorConfig config;
    private final SourceGaps gaps;
    private final RefusedRecordReport refused;
    private final RefusedTopics refusedTopics;
    private final List<ClientCertificate> certificates;
    private final StallTimes stalls = new StallTimes();
    private final CatchUpEstimate catchUp = new CatchUpEstimate();
    private final long startNanos = System.nanoTime();
    private volatile String waiting = "The mirror starts";
    private volatile Parts partsOrNull;

    /**
     * What the monitor reads once the mirror copies.
     *
     * @param members of this process
     * @param group has their producer
     * @param maxSilentNanos a member that has not polled for longer hangs
     */
    record Parts(
            List<Member> members,
            String groupName,
            MirrorMembers group,
            TargetWatch watch,
            TopicIdentities identities,
            ClusterProbe source,
            ClusterProbe target,
            long maxSilentNanos) {}

    Monitor(
            Lifecycle lifecycle,
            TopicControls controls,
            MirrorConfig config,
            SourceGaps gaps,
            RefusedRecordReport refused,
            RefusedTopics refusedTopics) {
        this.lifecycle = lifecycle;
        this.controls = controls;
        this.config = config;
        this.gaps = gaps;
        this.refused = refused;
        this.refusedTopics = refusedTopics;
        this.certificates = ClientCertificate.of(config);
    }

    /** Notes that the mirror cannot copy yet. */
    void onWaiting(String why) {
        waiting = why;
    }

    void onCopying(Parts parts) {
        partsOrNull = parts;
    }

    /**
     * Asks whether the clusters answer, notes what stalls, and estimates how long catching up takes. To be called about
     * once a second. Does not block.
     */
    void look(long nowNanos) {
        Parts parts = partsOrNull;
        if (parts == null) {
            return;
        }
        parts.source.askIfDue(nowNanos);
        parts.target.askIfDue(nowNanos);
        Set<TopicPartition> silent = parts.watch.problem().partitions();
        stalls.add(
                partitionCounters()
                        .map(partition -> partition.stallOrNull(silent))
                        .filter(Objects::nonNull)
                        .toList(),
                nowNanos);
        estimateCatchUp(nowNanos);
    }

    /** Leaves out paused partitions, which would never be copied. */
    private void estimateCatchUp(long nowNanos) {
        List<PartitionCounters> paused = paused().toList();
        long pausedLag = paused.stream()
                .mapToLong(counters -> Math.max(0, counters.lag()))
                .sum();
        long owned = partitionCounters().filter(PartitionCounters::isOwned).count();
        catchUp.add(totals().withoutUnpolled(pausedLag), (int) owned - paused.size(), nowNanos);
    }

    /** Returns the paused partitions of this process. */
    List<TopicPartition> pausedPartitions() {
        return paused().map(PartitionCounters::partition).distinct().toList();
    }

    private Stream<PartitionCounters> paused() {
        return controls.state().pauses().isEmpty()
                ? Stream.empty()
                : partitionCounters()
                        .filter(PartitionCounters::isOwned)
                        .filter(counters ->
                                controls.of(counters.partition().topic()).isPaused());
    }

    /** Returns the counters of each partition that members copy or have copied. */
    Stream<PartitionCounters> partitionCounters() {
        return members().stream().flatMap(member -> member.counters().partitions().stream());
    }

    /** Returns what the members have done so far. */
    MirrorTotals totals() {
        return totals(members());
    }

    static MirrorTotals totals(List<Member> members) {
        return members.stream().map(Member::totals).reduce(MirrorTotals.NONE, MirrorTotals::plus);
    }

    /** Returns the members; none until they start. */
    private List<Member> members() {
        Parts parts = partsOrNull;
        return parts == null ? List.of() : parts.members;
    }

    /** Returns {@link MirrorStatus#catchUpSeconds}. Does not block. */
    double catchUpSeconds() {
        return catchUp.seconds();
    }

    MirrorStatus status() {
        long nowNanos = System.nanoTime();
        Parts parts = partsOrNull;
        List<MemberStatus> members = new ArrayList<>();
        for (Member member : members()) {
            members.add(member.counters().member("mirror-" + members.size(), nowNanos));
        }
        return new MirrorStatus(
                condition(parts, members, nowNanos),
                new MirrorStatus.Clusters(
                        config.consumer()
                                .get(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG)
                                .toString(),
                        config.producer()
                                .get(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG)
                                .toString(),
                        config.names(),
                        parts == null ? "" : parts.groupName,
                        config.mode(),
                        config.policies().resume(),
                        config.threads()),
                certificates.stream()
                        .map(ClientCertificate::status)
                        .flatMap(Optional::stream)
                        .toList(),
                totals(),
                catchUp.seconds(),
                partitions(parts == null ? Set.of() : parts.watch.problem().partitions()),
                members,
                parts == null ? new ProducerMemory(0, 0, 0) : memory(parts.group.producerMetrics()),
                bytes(),
                new Events(
                        gaps,
                        parts == null ? 0 : parts.identities.replaced(),
                        refused,
                        refusedTopics.count(),
                        stalls.seconds()),
                controls.state());
    }

    private Condition condition(Parts parts, List<MemberStatus> members, long nowNanos) {
        String source = parts == null ? "" : parts.source.problem(nowNanos);
        String target = parts == null ? "" : parts.target.problem(nowNanos);
        String failure = failure(parts, members);
        String obstacle = failure;
        if (obstacle.isEmpty()) {
            obstacle = !lifecycle.isRunning()
                    ? "The mirror stops"
                    : parts == null
                            ? waiting
                            : firstOf(source, target, parts.watch.problem().text(), outsider(parts, members));
        }
        return new Condition(
                state(parts),
                failure,
                obstacle,
                parts != null && source.isEmpty(),
                parts != null && target.isEmpty(),
                (nowNanos - startNanos) / 1e9);
    }

    private MirrorState state(Parts parts) {
        if (lifecycle.failureOrNull() != null) {
            return MirrorState.FAILED;
        }
        if (!lifecycle.isRunning()) {
            return MirrorState.STOPPING;
        }
        return parts == null ? MirrorState.STARTING : MirrorState.RUNNING;
    }

    private String failure(Parts parts, List<MemberStatus> members) {
        if (lifecycle.failureOrNull() != null) {
            return MirrorException.stopped(lifecycle.failureOrNull()).getMessage();
        }
        String ofClients =
                parts == null || !lifecycle.isRunning() ? "" : firstOf(parts.source.failure(), parts.target.failure());
        if (!ofClients.isEmpty()) {
            return ofClients;
        }
        return members.stream()
                .filter(member ->
                        parts != null && member.silentSeconds() > TimeUnit.NANOSECONDS.toSeconds(parts.maxSilentNanos))
                .map(member -> "Thread " + member.name() + " hangs: it has not polled for "
                        + Words.count((long) member.silentSeconds(), "second"))
                .findFirst()
                .orElse("");
    }

    /** Describes a member that has no partitions because it is not in the group; empty if there is none. */
    private static String outsider(Parts parts, List<MemberStatus> members) {
        return members.stream()
                .filter(member -> !member.isMember())
                .map(member -> member.name() + " is not a member of group " + parts.groupName + " yet, or no longer")
                .findFirst()
                .orElse("");
    }

    private static String firstOf(String... texts) {
        for (String text : texts) {
            if (!text.isEmpty()) {
                return text;
            }
        }
        return "";
    }

    private List<PartitionStatus> partitions(Set<TopicPartition> silent) {
        long nowMs = System.currentTimeMillis();
        Map<TopicPartition, PartitionStatus> all = new HashMap<>();
        for (Member member : members()) {
            for (PartitionCounters counters : member.counters().partitions()) {
                PartitionStatus status = counters.status(silent, nowMs);
                all.merge(new TopicPartition(status.topic(), status.partition()), status, PartitionStatus::plus);
            }
        }
        return all.values().stream()
                .sorted(Comparator.comparing(PartitionStatus::topic).thenComparing(PartitionStatus::partition))
                .toList();
    }

    private Bytes bytes() {
        Parts parts = partsOrNull;
        double written = parts == null
                ? 0
                : values(parts.group.producerMetrics(), "producer-topic-metrics", "byte-total")
                        .sum();
        return new Bytes(
                members().stream()
                        .mapToLong(member -> member.counters().fetchedBytes())
                        .sum(),
                (long) written);
    }

    /** Logs the bytes read and written. To be called before the producer is closed. */
    void tellBytes() {
        Bytes bytes = bytes();
        if (bytes.fetched() > 0) { // otherwise Kafka's consumer has fetched
            LOG.info("{} were read, and {} written", Words.bytes(bytes.fetched()), Words.bytes(bytes.written()));
        }
    }

    private static ProducerMemory memory(Map<MetricName, ? extends Metric> metrics) {
        double total = value(metrics, "buffer-total-bytes");
        return new ProducerMemory(
                (long) (total - value(metrics, "buffer-available-bytes")),
                (long) total,
                value(metrics, "bufferpool-wait-time-ns-total") / 1e9);
    }

    private static double value(Map<MetricName, ? extends Metric> metrics, String name) {
        return values(metrics, "producer-metrics", name).findFirst().orElse(0);
    }

    private static DoubleStream values(Map<MetricName, ? extends Metric> metrics, String group, String name) {
        return metrics.entrySet().stream()
                .filter(metric -> metric.getKey().group().equals(group)
                        && metric.getKey().name().equals(name))
                .mapToDouble(metric -> (double) metric.getValue().metricValue());
    }
}
