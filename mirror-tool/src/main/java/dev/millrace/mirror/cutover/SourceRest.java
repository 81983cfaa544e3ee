package dev.millrace.mirror.cutover;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.MatchingTopics;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.progress.BothClusters;
import dev.millrace.mirror.progress.MirrorPositions;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * What the source had, at a moment, that the mirror has not copied.
 *
 * @param ends the offset after the last record of each partition
 * @param open the partitions with a transaction that is not decided
 * @param left how many offsets of a partition are not committed by the mirror; without those that have none
 */
record SourceRest(Map<TopicPartition, Long> ends, Set<TopicPartition> open, Map<TopicPartition, Long> left) {
    /** Asks both clusters. Blocks until they have answered. */
    static SourceRest ask(BothClusters clusters) {
        MirrorConfig config = clusters.config();
        Admin source = clusters.source();
        Map<TopicPartition, Uuid> ids = Clusters.topicIdsByPartition(
                source, MatchingTopics.ask(source, config).mirrored());
        // The ends first: positions that are read later may be beyond them, and never wrongly before.
        Map<TopicPartition, Long> ends = Clusters.offsets(source, ids.keySet(), OffsetSpec.latest());
        Map<TopicPartition, Long> stable =
                Clusters.offsets(source, ids.keySet(), OffsetSpec.latest(), IsolationLevel.READ_COMMITTED);
        Map<TopicPartition, Long> starts = Clusters.offsets(source, ids.keySet(), OffsetSpec.earliest());
        MirrorPositions positions =
                MirrorPositions.read(config, source, clusters.target(), clusters.sourceId(), clusters.targetId());
        Set<TopicPartition> open = new TreeSet<>(Clusters.PARTITION_ORDER);
        Map<TopicPartition, Long> left = new TreeMap<>(Clusters.PARTITION_ORDER);
        ends.forEach((partition, end) -> {
            if (stable.get(partition) < end) {
                open.add(partition);
            }
            long start = starts.get(partition);
            long position =
                    positions.find(partition, ids.get(partition), start, end).orElse(start);
            if (position < end) {
                left.put(partition, end - position);
            }
        });
        return new SourceRest(ends, open, left);
    }

    /** Returns the partitions whose end has changed since then. */
    Set<TopicPartition> grownSince(SourceRest before) {
        Set<TopicPartition> grown = new TreeSet<>(Clusters.PARTITION_ORDER);
        ends.forEach((partition, end) -> {
            if (!end.equals(before.ends.getOrDefault(partition, 0L))) {
                grown.add(partition);
            }
        });
        return grown;
    }

    /** Whether all that is there is decided, copied and committed. */
    boolean isNone() {
        return open.isEmpty() && left.isEmpty();
    }

    /** Returns how many offsets are left in all partitions together. */
    long sum() {
        return left.values().stream().mapToLong(Long::longValue).sum();
    }
}
