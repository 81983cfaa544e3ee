package dev.millrace.mirror.progress;

import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * Knows which topic of the target has the copy of each partition, by topic id. Progress is worthless once that topic is
 * gone, whatever topic has its name now. Targets before Kafka 2.8 have no ids; there only a topic that is missing
 * counts.
 *
 * <p><b>Threads:</b> any.
 * <p><b>Ordering:</b> concurrent collections; of one partition, one thread at a time changes what is known.
 */
public final class CopiedTopics {
    /** The ids for partitions with progress, by topic; zero if the id is unknown. */
    private final Map<String, Map<Integer, Uuid>> ids = new ConcurrentHashMap<>();
    /** Partitions whose id is not committed yet. */
    private final Set<TopicPartition> learned = ConcurrentHashMap.newKeySet();

    /** Whether something was copied before this was committed, so that the target must have the topic. */
    static boolean isProgress(OffsetAndMetadata committed) {
        CommitMetadata metadata = CommitMetadata.of(committed);
        boolean isNothingCopied = metadata.targetTopicId().equals(CommitMetadata.NOTHING_COPIED)
                || metadata.resume()
                        .filter(at -> at.targetOffset() == 0) // the target's partition had no record yet
                        .isPresent();
        return committed.offset() > 0 && metadata.targetId().isPresent() && !isNothingCopied;
    }

    /**
     * Whether the target has lost what was copied before this was committed.
     *
     * @param idOnTarget of the topic that the target has now, zero if it gives none; empty if it has none
     */
    static boolean isLost(OffsetAndMetadata committed, Optional<Uuid> idOnTarget) {
        return isProgress(committed)
                && (idOnTarget.isEmpty()
                        || TopicIdentities.differ(CommitMetadata.of(committed).targetTopicId(), idOnTarget.get()));
    }

    /**
     * Notes what the group has committed for partitions that are to be copied.
     *
     * @param committed of some of them
     */
    public void onProgress(
            Collection<TopicPartition> partitions, Map<TopicPartition, Optional<OffsetAndMetadata>> committed) {
        forget(partitions);
        committed.forEach((partition, position) -> position.filter(CopiedTopics::isProgress)
                .ifPresent(
                        progress -> put(partition, CommitMetadata.of(progress).targetTopicId())));
    }

    /** Notes which topic of the target receives the copy from now on. */
    public void onReady(TopicPartition partition, Uuid id) {
        if (!id.equals(Uuid.ZERO_UUID) && !id.equals(idOf(partition))) {
            put(partition, id);
            learned.add(partition);
        }
    }

    private void put(TopicPartition partition, Uuid id) {
        ids.compute(partition.topic(), (topic, known) -> {
            Map<Integer, Uuid> partitions = known == null ? new ConcurrentHashMap<>() : known;
            partitions.put(partition.partition(), id);
            return partitions;
        });
    }

    /** Whether a partition of the topic has progress, so that the target must have the topic. */
    public boolean haveProgress(String topic) {
        return ids.containsKey(topic);
    }

    public boolean hasProgress(TopicPartition partition) {
        return ids.getOrDefault(partition.topic(), Map.of()).containsKey(partition.partition());
    }

    /** Returns the id of the topic that has the copy; zero if unknown. */
    public Uuid idOf(TopicPartition partition) {
        return ids.getOrDefault(partition.topic(), Map.of()).getOrDefault(partition.partition(), Uuid.ZERO_UUID);
    }

    /** Whether the id was missing from the committed progress at which the copy resumes. */
    public boolean isIdNew(TopicPartition partition) {
        return learned.contains(partition);
    }

    /** Forgets these partitions, which another member copies from now on. */
    public void forget(Collection<TopicPartition> partitions) {
        partitions.forEach(partition -> {
            ids.computeIfPresent(partition.topic(), (topic, known) -> {
                known.remove(partition.partition());
                return known.isEmpty() ? null : known;
            });
            learned.remove(partition);
        });
    }
}
