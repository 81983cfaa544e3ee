package dev.millrace.mirror;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The progress in a group of the target, and where that has none, what the group on the source has, in which mirrors of
 * other modes keep it.
 *
 * <p><b>Threads:</b> the member's.
 */
final class TargetProgress implements SourcePositions.Committed {
    private static final Logger LOG = LoggerFactory.getLogger(TargetProgress.class);
    /** While the transaction of a former owner is not decided, there is no answer; the member must poll meanwhile. */
    private static final Duration ANSWER_TIMEOUT = Duration.ofMillis(500);

    private final Consumer<?, ?> target;
    private final Consumer<?, ?> source;
    private boolean isWaiting;

    /**
     * @param target of the group on the target
     * @param source of the group on the source; no member of it
     */
    TargetProgress(Consumer<?, ?> target, Consumer<?, ?> source) {
        this.target = target;
        this.source = source;
    }

    /**
     * The source positions, as of the last transaction that was committed.
     *
     * @throws TimeoutException a transaction that may change them is not decided yet, or a cluster does not answer
     */
    @Override
    public Map<TopicPartition, OffsetAndMetadata> of(Set<TopicPartition> partitions) {
        isWaiting = true;
        Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>();
        target.committed(partitions, ANSWER_TIMEOUT).forEach((partition, position) -> {
            if (position != null) {
                committed.put(partition, CommitMetadata.sourcePosition(position));
            }
        });
        isWaiting = false;
        Set<TopicPartition> without = new HashSet<>(partitions);
        without.removeAll(committed.keySet());
        if (!without.isEmpty()) {
            addFromSource(without, committed);
        }
        return committed;
    }

    private void addFromSource(Set<TopicPartition> without, Map<TopicPartition, OffsetAndMetadata> committed) {
        Map<TopicPartition, OffsetAndMetadata> found = new HashMap<>(source.committed(without));
        found.values().removeIf(position -> position == null);
        if (!found.isEmpty()) {
            LOG.info(
                    "Group {} on the target has no progress in {} of {} yet; they go on where group {} on the source is",
                    target.groupMetadata().groupId(),
                    Words.count(found.size(), "partition"),
                    new TreeSet<>(Clusters.topics(found.keySet())),
                    source.groupMetadata().groupId());
            committed.putAll(found);
        }
    }

    /** Whether the target has not answered the last question. */
    boolean isWaiting() {
        return isWaiting;
    }
}
