package dev.millrace.mirror;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.LogTruncationException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;

/**
 * Where a Kafka consumer goes on when the source no longer has its position. The consumer itself would move in silence,
 * so its {@code auto.offset.reset} is none, and it throws instead.
 *
 * <p><b>Threads:</b> that of the consumer.
 */
final class LostPositions {
    private final SourcePositions positions;
    private final SourceGaps gaps;

    LostPositions(SourcePositions positions, SourceGaps gaps) {
        this.positions = positions;
        this.gaps = gaps;
    }

    /**
     * What to do about what a poll threw.
     *
     * @param goingOn where to go on, by {@code auto.offset.reset} or where the log was truncated
     * @param stopped partitions that are not to be copied any more
     */
    record Outcome(Map<TopicPartition, OffsetAndMetadata> goingOn, Set<TopicPartition> stopped) {}

    /** Tells of each partition, and asks the policy about it. Partitions that are no longer owned do not matter. */
    Outcome find(OffsetOutOfRangeException thrown, Set<TopicPartition> owned) {
        Map<TopicPartition, Long> lost = new HashMap<>(thrown.offsetOutOfRangePartitions());
        lost.keySet().retainAll(owned);
        Map<TopicPartition, OffsetAndMetadata> targets = new HashMap<>();
        if (thrown instanceof LogTruncationException truncation) {
            targets.putAll(truncation.divergentOffsets());
            targets.keySet().retainAll(lost.keySet());
        }
        Set<TopicPartition> unknown = new HashSet<>(lost.keySet());
        unknown.removeAll(targets.keySet());
        if (!unknown.isEmpty()) {
            positions.resets(unknown).forEach((partition, to) -> targets.put(partition, new OffsetAndMetadata(to)));
        }
        Outcome outcome = new Outcome(new HashMap<>(), new HashSet<>());
        targets.forEach((partition, to) -> {
            if (gaps.onMove(partition, lost.get(partition), to.offset(), MirrorException.reason(thrown))) {
                outcome.goingOn.put(partition, to);
            } else {
                outcome.stopped.add(partition);
            }
        });
        return outcome;
    }
}
