package dev.millrace.mirror.verify;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.fetch.ResetPolicy;
import dev.millrace.mirror.progress.MirrorPositions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * Determines the range to compare of each partition, in this order: the mirror's positions, the ends of the target, the
 * ends of the source. So even while the mirror runs, the target has everything before the positions and nothing that
 * the source lacks.
 */
final class PartitionRanges {
    /** Within this time a mirror's transaction on the target ends, or times out. */
    private static final Duration OPEN_TRANSACTIONS = Duration.ofSeconds(30);

    private static final long PAUSE_NANOS = Duration.ofMillis(200).toNanos();

    private final MirrorConfig config;
    private final Admin source;
    private final CopiesOnTarget copies;
    private final OptionalLong sample;

    PartitionRanges(MirrorConfig config, Admin source, CopiesOnTarget copies, OptionalLong sample) {
        this.config = config;
        this.source = source;
        this.copies = copies;
        this.sample = sample;
    }

    /**
     * Returns the ranges of these topics' partitions. Blocks until both clusters have answered, and while a transaction
     * is open on the target, at most 30 s.
     *
     * @param topics of the source
     */
    Map<TopicPartition, PartitionRange> ask(Collection<String> topics, MirrorPositions positions) {
        Map<String, TopicDescription> here = Clusters.describe(source, topics);
        Set<TopicPartition> there = partitions(copies.describe(here.keySet()));
        Map<TopicPartition, Long> targetEnds =
                copies.offsets(there, OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED);
        Map<TopicPartition, Long> readable = awaitTransactions(targetEnds);
        Map<TopicPartition, Long> targetStarts =
                copies.offsets(there, OffsetSpec.earliest(), IsolationLevel.READ_UNCOMMITTED);
        Set<TopicPartition> ofSource = partitions(here);
        Map<TopicPartition, Long> sourceStarts =
                Clusters.offsets(source, ofSource, OffsetSpec.earliest(), IsolationLevel.READ_UNCOMMITTED);
        Map<TopicPartition, Long> sourceEnds = Clusters.offsets(source, ofSource, OffsetSpec.latest(), isolation());
        Map<TopicPartition, PartitionRange> ranges = new TreeMap<>(Clusters.PARTITION_ORDER);
        Set<TopicPartition> all = new HashSet<>(ofSource);
        all.addAll(there);
        for (TopicPartition partition : all) {
            long start = sourceStarts.getOrDefault(partition, 0L);
            long end = Math.max(start, sourceEnds.getOrDefault(partition, 0L));
            Uuid topicId = here.get(partition.topic()).topicId();
            OptionalLong copied = positions.find(partition, topicId, start, end);
            if (readable.getOrDefault(partition, 0L) < targetEnds.getOrDefault(partition, 0L)) {
                copied = OptionalLong.empty(); // Some of it cannot be read yet.
            }
            ranges.put(
                    partition,
                    range(
                            config.policies().starts().of(partition.topic()),
                            copied,
                            start,
                            end,
                            targetStarts.getOrDefault(partition, 0L),
                            Math.min(readable.getOrDefault(partition, 0L), targetEnds.getOrDefault(partition, 0L))));
        }
        return ranges;
    }

    private PartitionRange range(
            ResetPolicy begin, OptionalLong copied, long start, long end, long targetStart, long targetEnd) {
        long sourceFrom = start;
        long targetFrom = targetStart;
        if (sample.isPresent()) {
            // More of the source is read, because it may have offsets without a record and the mirror has advanced
            // since its commit.
            sourceFrom = Math.max(start, copied.orElse(end) - 2 * Math.min(sample.getAsLong(), Long.MAX_VALUE / 2));
            targetFrom = Math.max(targetStart, targetEnd - sample.getAsLong());
        }
        return new PartitionRange(
                sourceFrom,
                end,
                Math.max(sourceFrom, copied.orElse(sourceFrom)),
                targetFrom,
                Math.max(targetFrom, targetEnd),
                targetFrom > 0 || !begin.isEarliest(),
                sourceFrom > 0 || config.policies().isWayBack()); // The target may have more than was ever moved.
    }

    /** Returns the ends for committed records, once no transaction from before the given ends is open. */
    private Map<TopicPartition, Long> awaitTransactions(Map<TopicPartition, Long> ends) {
        long start = System.nanoTime();
        Map<TopicPartition, Long> readable = new HashMap<>();
        List<TopicPartition> open = new ArrayList<>(ends.keySet());
        while (true) {
            readable.putAll(copies.offsets(open, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED));
            open.removeIf(partition -> readable.get(partition) >= ends.get(partition));
            if (open.isEmpty() || System.nanoTime() - start > OPEN_TRANSACTIONS.toNanos()) {
                return readable;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /** Returns the isolation level with which the mirror reads the source. */
    private IsolationLevel isolation() {
        return "read_uncommitted".equals(config.consumer().get(ConsumerConfig.ISOLATION_LEVEL_CONFIG))
                ? IsolationLevel.READ_UNCOMMITTED
                : IsolationLevel.READ_COMMITTED;
    }

    private static Set<TopicPartition> partitions(Map<String, TopicDescription> topics) {
        Set<TopicPartition> partitions = new HashSet<>();
        topics.forEach((topic, description) -> IntStream.range(
                        0, description.partitions().size())
                .forEach(partition -> partitions.add(new TopicPartition(topic, partition))));
        return partitions;
    }
}
