package dev.millrace.mirror.progress;

import dev.millrace.mirror.text.MirrorException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.LogTruncationException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;

/**
 * Moves a Kafka consumer that reads the records itself to where its partitions begin, or to where they continue when
 * the source no longer has a position. The consumer would do the latter silently, so its {@code auto.offset.reset} is
 * {@code none}, and it throws instead.
 *
 * <p><b>Threads:</b> that of the consumer.
 */
public final class ConsumerPositions {
    private final Consumer<?, ?> consumer;
    private final SourcePositions positions;
    private final SourceGaps gaps;

    public ConsumerPositions(Consumer<?, ?> consumer, SourcePositions positions, SourceGaps gaps) {
        this.consumer = consumer;
        this.positions = positions;
        this.gaps = gaps;
    }

    /** Moves the consumer to where these partitions begin; it looks for the beginning of a log later, by itself. */
    public void seek(Map<TopicPartition, SourcePositions.Start> starts) {
        List<TopicPartition> beginnings = new ArrayList<>();
        starts.forEach((partition, start) -> {
            if (start.isWhereTheLogBegins()) {
                beginnings.add(partition);
            } else {
                consumer.seek(partition, new OffsetAndMetadata(start.offset(), start.leaderEpoch(), ""));
            }
        });
        if (!beginnings.isEmpty()) { // An empty list would mean all.
            consumer.seekToBeginning(beginnings);
        }
    }

    /**
     * The result of handling positions that the source no longer has.
     *
     * @param moved where the consumer continues: at the first record that is left, where the log was truncated, or by
     *     {@code auto.offset.reset}
     * @param stopped partitions that are paused, and must not be copied any more
     */
    public record Recovery(Map<TopicPartition, OffsetAndMetadata> moved, Set<TopicPartition> stopped) {}

    /** Logs each of the positions and applies the policy. */
    public Recovery recover(OffsetOutOfRangeException thrown) {
        Map<TopicPartition, Long> lost = new HashMap<>(thrown.offsetOutOfRangePartitions());
        lost.keySet().retainAll(consumer.assignment());
        Recovery recovery = new Recovery(new HashMap<>(), new HashSet<>());
        targets(thrown, lost.keySet()).forEach((partition, to) -> {
            if (gaps.onMove(partition, lost.get(partition), to.offset(), MirrorException.reason(thrown))) {
                consumer.seek(partition, to);
                recovery.moved.put(partition, to);
            } else {
                consumer.seek(partition, 0); // Otherwise it would ask about the lost position forever.
                consumer.pause(Set.of(partition));
                recovery.stopped.add(partition);
            }
        });
        return recovery;
    }

    private Map<TopicPartition, OffsetAndMetadata> targets(OffsetOutOfRangeException thrown, Set<TopicPartition> lost) {
        Map<TopicPartition, OffsetAndMetadata> targets = new HashMap<>();
        if (thrown instanceof LogTruncationException truncation) {
            targets.putAll(truncation.divergentOffsets());
            targets.keySet().retainAll(lost);
        }
        Set<TopicPartition> unknown = new HashSet<>(lost);
        unknown.removeAll(targets.keySet());
        if (!unknown.isEmpty()) {
            Map<TopicPartition, Long> outside = new HashMap<>(thrown.offsetOutOfRangePartitions());
            outside.keySet().retainAll(unknown);
            positions.resetsOf(outside).forEach((partition, to) -> targets.put(partition, new OffsetAndMetadata(to)));
        }
        return targets;
    }
}
