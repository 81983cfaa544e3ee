package dev.millrace.mirror;

import java.util.Optional;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * The form in which this mirror commits positions: with its mark, the topic's id, and the topic's names on both clusters.
 *
 * <p><b>Threads:</b> any, if {@code idsOfMissing} may be called by any.
 *
 * @param targetId the target's cluster id
 * @param idsOfMissing the ids of topics that did not exist when they were assigned; zero if unknown
 */
record CommitForm(MirrorConfig config, String targetId, Function<String, Uuid> idsOfMissing) {
    TopicNames names() {
        return config.names();
    }

    /**
     * A position as it is to be committed to a group of the source.
     *
     * @param partition of the source
     * @param topicId of the source topic that the position belongs to; zero if unknown
     */
    OffsetAndMetadata onSource(
            TopicPartition partition,
            OffsetAndMetadata position,
            Uuid topicId,
            Optional<CommitMetadata.ResumePoint> resume) {
        return metadata(partition, topicId, resume)
                .withNames(partition.topic(), names().onTarget(partition.topic()))
                .addTo(position);
    }

    /** As {@link #onSource}, for a group of the target. */
    OffsetAndMetadata onTarget(TopicPartition partition, OffsetAndMetadata position, Uuid topicId) {
        return metadata(partition, topicId, Optional.empty())
                .withNames(names().onTarget(partition.topic()), partition.topic())
                .addToOnTarget(position);
    }

    private CommitMetadata metadata(
            TopicPartition partition, Uuid topicId, Optional<CommitMetadata.ResumePoint> resume) {
        Uuid known = topicId.equals(Uuid.ZERO_UUID) ? idsOfMissing.apply(partition.topic()) : topicId;
        return new CommitMetadata(MirrorGroup.mark(targetId), known, resume);
    }

    /** @param isOnTarget whether the group is one of the target */
    FormerProgress formerProgress(String group, boolean isOnTarget) {
        return new FormerProgress(config, targetId, group, isOnTarget);
    }
}
