package dev.millrace.mirror.progress;

import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.TopicNames;
import java.util.Optional;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * The form in which this mirror commits positions: with its mark, the topic's id, and the topic's names on both
 * clusters.
 *
 * <p><b>Threads:</b> any, if any thread may call {@code idsOfMissing}.
 *
 * @param targetId the target's cluster id
 * @param idsOfMissing the ids of topics that did not exist when they were assigned; zero if unknown
 * @param copied knows which topics of the target have the copies
 */
public record CommitForm(
        MirrorConfig config, String targetId, Function<String, Uuid> idsOfMissing, CopiedTopics copied) {
    TopicNames names() {
        return config.names();
    }

    /**
     * Returns a position in the form in which it is committed to a group of the source.
     *
     * @param partition of the source
     * @param topicId of the source topic that the position belongs to; zero if unknown
     */
    public OffsetAndMetadata onSource(
            TopicPartition partition,
            OffsetAndMetadata position,
            Uuid topicId,
            Optional<CommitMetadata.ResumePoint> resume) {
        return onSource(partition, position, topicId, resume, copied.idOf(partition));
    }

    /** Returns where a partition begins, in the form committed to a group of the source before anything is copied. */
    OffsetAndMetadata startOnSource(TopicPartition partition, long offset, Uuid topicId) {
        return onSource(
                partition, new OffsetAndMetadata(offset), topicId, Optional.empty(), CommitMetadata.NOTHING_COPIED);
    }

    /** @param targetTopicId of the target's topic that has the copy */
    OffsetAndMetadata onSource(
            TopicPartition partition,
            OffsetAndMetadata position,
            Uuid topicId,
            Optional<CommitMetadata.ResumePoint> resume,
            Uuid targetTopicId) {
        return metadata(partition, topicId, resume)
                .copiedTo(targetTopicId)
                .withNames(partition.topic(), names().onTarget(partition.topic()))
                .addTo(position);
    }

    /** Does the same as {@link #onSource} for a group of the target. */
    public OffsetAndMetadata onTarget(TopicPartition partition, OffsetAndMetadata position, Uuid topicId) {
        return onTarget(partition, position, topicId, copied.idOf(partition));
    }

    /** Does the same as {@link #startOnSource} for a group of the target. */
    OffsetAndMetadata startOnTarget(TopicPartition partition, long offset, Uuid topicId) {
        return onTarget(partition, new OffsetAndMetadata(offset), topicId, CommitMetadata.NOTHING_COPIED);
    }

    /** Converts a position of a group of the source into that of a group of the target. */
    OffsetAndMetadata movedToTarget(TopicPartition partition, OffsetAndMetadata onSource) {
        CommitMetadata known = CommitMetadata.of(onSource);
        return onTarget(partition, onSource, known.topicId(), known.targetTopicId());
    }

    /** @param targetTopicId of the target's topic that has the copy */
    OffsetAndMetadata onTarget(TopicPartition partition, OffsetAndMetadata position, Uuid topicId, Uuid targetTopicId) {
        return metadata(partition, topicId, Optional.empty())
                .copiedTo(targetTopicId)
                .withNames(names().onTarget(partition.topic()), partition.topic())
                .addToOnTarget(position);
    }

    private CommitMetadata metadata(
            TopicPartition partition, Uuid topicId, Optional<CommitMetadata.ResumePoint> resume) {
        Uuid known = topicId.equals(Uuid.ZERO_UUID) ? idsOfMissing.apply(partition.topic()) : topicId;
        return new CommitMetadata(MirrorGroup.mark(targetId), known, resume);
    }

    /** @param isOnTarget whether the group is on the target */
    FormerProgress formerProgress(String group, boolean isOnTarget) {
        return new FormerProgress(config, targetId, group, isOnTarget);
    }
}
