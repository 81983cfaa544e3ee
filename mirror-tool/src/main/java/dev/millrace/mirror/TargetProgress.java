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

    private final MirrorConfig config;
    private final Consumer<?, ?> target;
    private final Consumer<?, ?> source;
    private boolean isWaiting;

    /**
     * @param target of the group on the target
     * @param source of the group on the source; no member of it
     */
    TargetProgress(MirrorConfig config, Consumer<?, ?> target, Consumer<?, ?> source) {
        this.config = config;
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
        TopicNames names = config.names();
        Map<TopicPartition, OffsetAndMetadata> found = target.committed(names.onTarget(partitions), ANSWER_TIMEOUT);
        names.onSource(namesOf(target, true).requireSame(found)).forEach((partition, position) -> {
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
        Map<TopicPartition, OffsetAndMetadata> found =
                new HashMap<>(namesOf(source, false).requireSame(source.committed(without)));
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

    private FormerNames namesOf(Consumer<?, ?> member, boolean isOnTarget) {
        return new FormerNames(config, member.groupMetadata().groupId(), isOnTarget);
    }

    /** Whether the target has not answered the last question. */
    boolean isWaiting() {
        return isWaiting;
    }
}
