package dev.millrace.mirror.progress;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.MirrorConfig;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * The positions that a mirror with some configuration has committed.
 *
 * @param group where it keeps its progress
 * @param isGroupOnTarget whether that is a group of the target
 * @param committed by partitions of the source
 */
public record MirrorPositions(String group, boolean isGroupOnTarget, Map<TopicPartition, OffsetAndMetadata> committed) {
    /** Asks for the positions. Blocks until the cluster of the group has answered. */
    public static MirrorPositions read(
            MirrorConfig config, Admin source, Admin target, String sourceId, String targetId) {
        boolean isOnTarget = config.isExactlyOnce();
        String group = MirrorGroup.of(config, sourceId, targetId);
        Map<TopicPartition, OffsetAndMetadata> committed = committed(isOnTarget ? target : source, group);
        return new MirrorPositions(
                group, isOnTarget, isOnTarget ? config.names().onSource(committed) : committed);
    }

    /**
     * Returns the positions at which a mirror would start now: with exactly once, that in the group on the source counts
     * where the target's group has none. Blocks until the source has answered.
     */
    public MirrorPositions atStart(MirrorConfig config, Admin source, String targetId) {
        if (!isGroupOnTarget) {
            return this;
        }
        Map<TopicPartition, OffsetAndMetadata> positions =
                new HashMap<>(committed(source, MirrorGroup.onSource(config, targetId)));
        positions.putAll(committed);
        return new MirrorPositions(group, true, positions);
    }

    /**
     * Returns the positions of a group on the source, whatever its mirror's mode. Blocks until the source has answered.
     */
    static MirrorPositions ofSource(Admin source, String group) {
        return new MirrorPositions(group, false, committed(source, group));
    }

    /** Whether any of these topics has a position; if not, it is the first start of a mirror of them. */
    public boolean hasAny(Set<String> topics) {
        return committed.keySet().stream().anyMatch(partition -> topics.contains(partition.topic()));
    }

    /** Returns those of the topics of which no partition has a position. */
    public Set<String> withoutAny(Set<String> topics) {
        Set<String> without = new TreeSet<>(topics);
        without.removeAll(Clusters.topics(committed.keySet()));
        return without;
    }

    /** Returns what a group has committed; nothing if it does not exist. Blocks until its cluster has answered. */
    static Map<TopicPartition, OffsetAndMetadata> committed(Admin cluster, String group) {
        Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>(
                Clusters.awaitUnchecked(cluster.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata()));
        committed.values().removeIf(position -> position == null);
        return committed;
    }

    /**
     * Whether the target has lost the copy of a partition.
     *
     * @param onTarget the topic that the target has; empty if it has none
     */
    public boolean isLost(TopicPartition partition, Optional<TopicDescription> onTarget) {
        OffsetAndMetadata position = committed.get(partition);
        return position != null && CopiedTopics.isLost(position, onTarget.map(TopicDescription::topicId));
    }

    /**
     * Returns how many records, at least, the target has lost from the end of a log; 0 if that is not known.
     *
     * @param end of the target's log
     */
    public long lostTail(TopicPartition partition, long end) {
        return Optional.ofNullable(committed.get(partition))
                .map(CommitMetadata::of)
                .flatMap(CommitMetadata::resume)
                .map(point -> point.lostTail(end))
                .orElse(0L);
    }

    /**
     * Returns the source offset before which everything is copied; empty if nothing is committed.
     *
     * @param topicId of the topic that the source has now
     * @param start the first offset that the source has
     * @param end the offset after the last one
     */
    public OptionalLong find(TopicPartition partition, Uuid topicId, long start, long end) {
        OffsetAndMetadata position = committed.get(partition);
        if (position == null) {
            return OptionalLong.empty();
        }
        Uuid known = CommitMetadata.of(position).topicId();
        boolean isOther = !known.equals(Uuid.ZERO_UUID) && !topicId.equals(Uuid.ZERO_UUID) && !known.equals(topicId);
        return OptionalLong.of(isOther ? start : Math.min(end, Math.max(start, position.offset())));
    }
}
