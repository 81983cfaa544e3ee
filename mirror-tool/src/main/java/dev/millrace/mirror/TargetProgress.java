package dev.millrace.mirror;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
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

    private final Mirror mirror;
    private final Consumer<?, ?> target;
    private final Consumer<?, ?> source;
    private boolean isWaiting;

    /**
     * @param target of the group on the target
     * @param source of the group on the source; no member of it
     */
    TargetProgress(Mirror mirror, Consumer<?, ?> target, Consumer<?, ?> source) {
        this.mirror = mirror;
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
        TopicNames names = mirror.names();
        Map<TopicPartition, OffsetAndMetadata> found = target.committed(names.onTarget(partitions), ANSWER_TIMEOUT);
        names.onSource(formerOf(target, true).requireSame(found)).forEach((partition, position) -> {
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

    @Override
    public void commit(Map<TopicPartition, SourcePositions.Start> starts) {
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        starts.forEach((partition, start) -> positions.put(
                partition, mirror.onTarget(partition, new OffsetAndMetadata(start.offset()), start.topicId())));
        for (Map<TopicPartition, OffsetAndMetadata> part : CommitParts.of(positions)) {
            target.commitSync(mirror.names().onTarget(part), ANSWER_TIMEOUT);
        }
    }

    private void addFromSource(Set<TopicPartition> without, Map<TopicPartition, OffsetAndMetadata> committed) {
        Map<TopicPartition, OffsetAndMetadata> found =
                new HashMap<>(formerOf(source, false).requireSame(source.committed(without)));
        found.values().removeIf(position -> position == null);
        found.keySet().removeAll(emptyOnTarget(found.keySet()));
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

    /** Its topic was deleted from the target since the group on the source has copied it, so all is to be copied anew. */
    private Set<TopicPartition> emptyOnTarget(Set<TopicPartition> partitions) {
        Map<TopicPartition, Long> ends = target.endOffsets(mirror.names().onTarget(partitions), ANSWER_TIMEOUT);
        Set<TopicPartition> empty = mirror.names().onSource(ends).entrySet().stream()
                .filter(end -> end.getValue() == 0)
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
        if (!empty.isEmpty()) {
            LOG.warn(
                    "The target has nothing of {}, of which group {} on the source has progress; they begin anew",
                    empty,
                    source.groupMetadata().groupId());
        }
        return empty;
    }

    private FormerProgress formerOf(Consumer<?, ?> member, boolean isOnTarget) {
        return mirror.formerProgress(member.groupMetadata().groupId(), isOnTarget);
    }

    /** Whether the target has not answered the last question. */
    boolean isWaiting() {
        return isWaiting;
    }
}
