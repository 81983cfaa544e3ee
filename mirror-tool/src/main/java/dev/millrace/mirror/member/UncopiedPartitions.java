package dev.millrace.mirror.member;

import dev.millrace.mirror.progress.SourcePositions;
import dev.millrace.mirror.progress.UnplacedPartitions;
import dev.millrace.mirror.topics.SubscribedTopics;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Partitions that a {@link TargetGroupMember} owns and does not copy yet, and where each is to begin. It leaves out
 * partitions that only the target has.
 *
 * <p><b>Threads:</b> the member's thread.
 */
final class UncopiedPartitions {
    private static final Logger LOG = LoggerFactory.getLogger(UncopiedPartitions.class);

    private final SubscribedTopics topics;
    private final SourcePositions positions;
    private final Set<TopicPartition> partitions = new HashSet<>();
    private final HeldPartitions held = new HeldPartitions();
    private final UnplacedPartitions unplaced = new UnplacedPartitions();
    /** Where partitions begin whose copies are lost, until a transaction with them is committed. */
    private final Map<TopicPartition, SourcePositions.Start> afterLoss = new HashMap<>();

    UncopiedPartitions(SubscribedTopics topics, SourcePositions positions) {
        this.topics = topics;
        this.positions = positions;
    }

    void add(Collection<TopicPartition> some) {
        partitions.addAll(some);
    }

    Set<TopicPartition> ofSource() {
        return partitions.stream().filter(topics::isOfSource).collect(Collectors.toSet());
    }

    /** Returns the partitions that {@link #hold} still holds back. */
    Set<TopicPartition> held(long nowNanos) {
        return ofSource().stream()
                .filter(partition -> held.isHeld(partition, nowNanos))
                .collect(Collectors.toSet());
    }

    /** Takes out the partitions that are to be copied from now on, and returns where they begin. */
    Map<TopicPartition, SourcePositions.Start> takeDue(long nowNanos) {
        Set<TopicPartition> due = ofSource().stream()
                .filter(partition -> !held.isHeld(partition, nowNanos) && !unplaced.isTooEarly(partition, nowNanos))
                .collect(Collectors.toSet());
        if (due.isEmpty()) {
            return Map.of();
        }
        try {
            Map<TopicPartition, SourcePositions.Start> found = new HashMap<>(afterLoss);
            found.keySet().retainAll(due);
            due.removeAll(found.keySet());
            if (!due.isEmpty()) {
                found.putAll(positions.find(due, Set.of()));
            }
            unplaced.onAsked(due, found.keySet());
            partitions.removeAll(found.keySet());
            return found;
        } catch (RetriableException e) {
            LOG.debug("The positions of {} are not known yet", due, e);
            return Map.of();
        }
    }

    /** Holds back partitions of which the target takes nothing. */
    void hold(List<TopicPartition> hanging, long nowNanos) {
        held.hold(hanging, nowNanos);
    }

    /** Notes where partitions begin whose copies the target has lost, whatever the progress that it has kept. */
    void onLost(Map<TopicPartition, SourcePositions.Start> starts) {
        afterLoss.putAll(starts);
    }

    /** Notes that a transaction with these partitions is committed. */
    void onCommitted(Set<TopicPartition> copied) {
        held.release(copied);
        afterLoss.keySet().removeAll(copied);
    }

    /** Forgets partitions that the member no longer owns. */
    void forget(Collection<TopicPartition> gone) {
        partitions.removeAll(gone);
        unplaced.remove(gone);
        afterLoss.keySet().removeAll(gone);
        held.release(gone);
    }
}
