package dev.millrace.mirror.progress;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.text.Words;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The progress in a group of the target. Where that has none, the progress in the group on the source counts, where
 * mirrors of other modes keep it.
 *
 * <p><b>Threads:</b> the member's.
 */
public final class TargetProgress implements SourcePositions.Committed {
    private static final Logger LOG = LoggerFactory.getLogger(TargetProgress.class);
    /**
     * While a former owner's transaction is undecided, the target does not answer, and the member must poll in the
     * meantime. The source has the same limit, because a transaction of this member may be open.
     */
    private static final Duration ANSWER_TIMEOUT = Duration.ofMillis(500);

    private final CommitForm form;
    private final Consumer<?, ?> target;
    private final Consumer<?, ?> source;
    private final Function<Set<TopicPartition>, Map<TopicPartition, Long>> targetEnds;
    private boolean isWaiting;

    /**
     * @param target of the group on the target
     * @param source of the group on the source, without being a member
     * @param targetEnds finds where copies end, for those whose leader answers
     */
    public TargetProgress(
            CommitForm form,
            Consumer<?, ?> target,
            Consumer<?, ?> source,
            Function<Set<TopicPartition>, Map<TopicPartition, Long>> targetEnds) {
        this.form = form;
        this.target = target;
        this.source = source;
        this.targetEnds = targetEnds;
    }

    /**
     * Returns the source positions as of the last committed transaction.
     *
     * @throws TimeoutException a transaction that may change them is not decided yet, or a cluster does not answer
     */
    @Override
    public Map<TopicPartition, Optional<OffsetAndMetadata>> of(Set<TopicPartition> partitions) {
        isWaiting = true;
        Map<TopicPartition, Optional<OffsetAndMetadata>> committed = new HashMap<>();
        TopicNames names = form.names();
        Map<TopicPartition, OffsetAndMetadata> found = target.committed(names.onTarget(partitions), ANSWER_TIMEOUT);
        names.onSource(formerOf(target, true).requireSame(found)).forEach((partition, position) -> {
            if (position != null) {
                committed.put(partition, Optional.of(CommitMetadata.sourcePosition(position)));
            }
        });
        isWaiting = false;
        Set<TopicPartition> without = new HashSet<>(partitions);
        without.removeAll(committed.keySet());
        if (!without.isEmpty()) {
            committed.putAll(onSource(without));
        }
        form.copied().onProgress(partitions, committed);
        return committed;
    }

    @Override
    public Set<TopicPartition> commit(Map<TopicPartition, SourcePositions.Start> starts) {
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        starts.forEach((partition, start) ->
                positions.put(partition, form.startOnTarget(partition, start.offset(), start.topicId())));
        return CommitParts.commit(
                positions, part -> target.commitSync(form.names().onTarget(part), ANSWER_TIMEOUT));
    }

    private Map<TopicPartition, Optional<OffsetAndMetadata>> onSource(Set<TopicPartition> without) {
        Map<TopicPartition, OffsetAndMetadata> found =
                new HashMap<>(formerOf(source, false).requireSame(source.committed(without, ANSWER_TIMEOUT)));
        found.values().removeIf(position -> position == null);
        Map<TopicPartition, Optional<OffsetAndMetadata>> positions = new HashMap<>();
        without.forEach(partition -> positions.put(partition, Optional.empty()));
        Map<TopicPartition, Optional<Long>> ends = endsOfCopied(found);
        ends.forEach((partition, end) -> {
            if (end.isEmpty()) {
                positions.remove(partition); // It may have been deleted there or not; ask again.
            }
            if (end.isEmpty() || end.get() == 0) {
                found.remove(partition);
            }
        });
        if (!found.isEmpty()) {
            LOG.info(
                    "Group {} on the target has no progress in {} of {} yet; they go on where group {} on the source is",
                    target.groupMetadata().groupId(),
                    Words.count(found.size(), "partition"),
                    new TreeSet<>(Clusters.topics(found.keySet())),
                    source.groupMetadata().groupId());
            found.forEach((partition, position) -> positions.put(partition, Optional.of(position)));
            keepOnTarget(found);
        }
        return positions;
    }

    /** Keeps on the target the positions of partitions without new records, because the group on the source expires. */
    private void keepOnTarget(Map<TopicPartition, OffsetAndMetadata> found) {
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        found.forEach((partition, position) ->
                positions.put(form.names().onTarget(partition), form.movedToTarget(partition, position)));
        Set<TopicPartition> unused = CommitParts.commit(positions, part -> target.commitSync(part, ANSWER_TIMEOUT));
    }

    /**
     * Returns where the target's partitions end that a mirror has copied from their first record; empty if no leader
     * tells it. If an end is 0, the topic was deleted there, and everything is copied again. Of others, everything to
     * copy is after the position of the first start.
     */
    private Map<TopicPartition, Optional<Long>> endsOfCopied(Map<TopicPartition, OffsetAndMetadata> found) {
        Map<TopicPartition, OffsetAndMetadata> copied = new HashMap<>(found);
        copied.keySet().removeIf(partition -> !isFromFirstRecord(partition));
        copied.values().removeIf(position -> !CopiedTopics.isProgress(position));
        if (copied.isEmpty()) {
            return Map.of();
        }
        Map<TopicPartition, Long> ends = targetEnds.apply(copied.keySet());
        Map<TopicPartition, Optional<Long>> known = new HashMap<>();
        copied.keySet().forEach(partition -> known.put(partition, Optional.ofNullable(ends.get(partition))));
        copied.keySet().removeIf(partition -> ends.getOrDefault(partition, 1L) > 0);
        if (!copied.isEmpty()) {
            LOG.warn(
                    "The target has nothing of {}, of which group {} on the source has progress; they begin anew",
                    copied.keySet(),
                    source.groupMetadata().groupId());
        }
        return known;
    }

    private boolean isFromFirstRecord(TopicPartition partition) {
        return form.config().policies().starts().of(partition.topic()).isEarliest();
    }

    private FormerProgress formerOf(Consumer<?, ?> member, boolean isOnTarget) {
        return form.formerProgress(member.groupMetadata().groupId(), isOnTarget);
    }

    /** Whether the target has not answered the last question. */
    public boolean isWaiting() {
        return isWaiting;
    }
}
