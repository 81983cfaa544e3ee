package dev.millrace.mirror.progress;

import dev.millrace.mirror.text.MirrorException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * The progress in the group of the source.
 *
 * <p><b>Threads:</b> the member's.
 *
 * @param member of the group
 * @param onNone notified of partitions for which the group has no position, or only that of their first record
 */
public record SourceProgress(
        CommitForm form, Consumer<?, ?> member, java.util.function.Consumer<Set<TopicPartition>> onNone)
        implements SourcePositions.Committed {
    /** A member does not poll while it asks. */
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(5);

    /** @throws MirrorException if the group has made its progress as a mirror to another target, or under other names */
    @Override
    public Map<TopicPartition, Optional<OffsetAndMetadata>> of(Set<TopicPartition> partitions) {
        Map<TopicPartition, OffsetAndMetadata> committed = form.formerProgress(
                        member.groupMetadata().groupId(), false)
                .requireSame(member.committed(partitions, ANSWER_TIMEOUT));
        Set<TopicPartition> without = new HashSet<>(partitions);
        without.removeIf(
                partition -> committed.get(partition) != null && !isFirstRecord(partition, committed.get(partition)));
        onNone.accept(without);
        Map<TopicPartition, Optional<OffsetAndMetadata>> found = new HashMap<>();
        partitions.forEach(partition -> found.put(partition, Optional.ofNullable(committed.get(partition))));
        form.copied().onProgress(partitions, found);
        return found;
    }

    /** Whether nothing was copied yet, and the mirror begins with the first record. On the way back it begins at the cut. */
    private boolean isFirstRecord(TopicPartition partition, OffsetAndMetadata position) {
        return !form.config().policies().isWayBack()
                && CommitMetadata.of(position).targetTopicId().equals(CommitMetadata.NOTHING_COPIED)
                && form.config().policies().starts().of(partition.topic()).isEarliest();
    }

    @Override
    public Set<TopicPartition> commit(Map<TopicPartition, SourcePositions.Start> starts) {
        return CommitParts.commit(positions(form, starts), part -> member.commitSync(part, ANSWER_TIMEOUT));
    }

    /** Returns what is committed to the group before anything is copied. */
    static Map<TopicPartition, OffsetAndMetadata> positions(
            CommitForm form, Map<TopicPartition, SourcePositions.Start> starts) {
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        starts.forEach((partition, start) ->
                positions.put(partition, form.startOnSource(partition, start.offset(), start.topicId())));
        return positions;
    }
}
