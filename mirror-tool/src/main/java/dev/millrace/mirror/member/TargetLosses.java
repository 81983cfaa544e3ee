package dev.millrace.mirror.member;

import dev.millrace.mirror.config.TargetLossPolicy;
import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.copy.RunningMirror;
import dev.millrace.mirror.progress.SourcePositions;
import dev.millrace.mirror.text.Words;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides about a member's partitions whose copies the target has lost with their topics, and reports what is missing.
 *
 * <p><b>Threads:</b> the member's thread.
 */
final class TargetLosses {
    private static final Logger LOG = LoggerFactory.getLogger(TargetLosses.class);

    private final TargetLossPolicy policy;
    private final TopicNames names;
    private final SourcePositions positions;
    private final Set<TopicPartition> stopped = new HashSet<>();

    TargetLosses(RunningMirror mirror, SourcePositions positions) {
        this.policy = mirror.config().policies().onTargetLost();
        this.names = mirror.names();
        this.positions = positions;
    }

    /**
     * Returns where the partitions go on, without those that are to be stopped.
     *
     * @param lost with the ids of the topics that have their names on the target now; zero if there is none
     * @param progress up to which they were copied; absent for some
     * @throws RetriableException the source does not tell what it has
     */
    Map<TopicPartition, SourcePositions.Start> decide(
            Map<TopicPartition, Uuid> lost, Map<TopicPartition, OffsetAndMetadata> progress) {
        Map<TopicPartition, Long> firsts = positions.firstOffsets(lost.keySet());
        Map<TopicPartition, OffsetAndMetadata> goingOn = new HashMap<>();
        Map<String, Map<Integer, String>> missing = new TreeMap<>();
        Map<String, Long> records = new HashMap<>();
        lost.keySet().forEach(partition -> {
            OffsetAndMetadata reached = reached(partition, progress.get(partition));
            long first = firsts.get(partition);
            boolean isMissing = first < reached.offset() && isAnythingCopied(partition, progress);
            if (isMissing) {
                missing.computeIfAbsent(partition.topic(), topic -> new TreeMap<>())
                        .put(partition.partition(), first + " to " + (reached.offset() - 1));
                records.merge(partition.topic(), reached.offset() - first, Long::sum);
            }
            if (!isMissing || policy == TargetLossPolicy.GO_ON) {
                goingOn.put(partition, reached);
            } else if (policy == TargetLossPolicy.COPY_AGAIN) {
                goingOn.put(partition, new OffsetAndMetadata(first));
            }
        });
        missing.forEach((topic, offsets) -> tell(topic, idOnTarget(topic, lost), offsets, records.get(topic)));
        return positions.beginAt(goingOn);
    }

    private OffsetAndMetadata reached(TopicPartition partition, OffsetAndMetadata copiedOrNull) {
        SourcePositions.Start begun = positions.begun(partition);
        return copiedOrNull == null
                ? new OffsetAndMetadata(begun.offset(), begun.leaderEpoch(), "")
                : new OffsetAndMetadata(copiedOrNull.offset(), copiedOrNull.leaderEpoch(), "");
    }

    private boolean isAnythingCopied(TopicPartition partition, Map<TopicPartition, OffsetAndMetadata> progress) {
        return progress.containsKey(partition) || !positions.begun(partition).isNew();
    }

    private static Uuid idOnTarget(String topic, Map<TopicPartition, Uuid> lost) {
        return lost.entrySet().stream()
                .filter(next -> next.getKey().topic().equals(topic))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElseThrow();
    }

    private void tell(String topic, Uuid idOnTarget, Map<Integer, String> offsets, long records) {
        LOG.warn(
                "Topic {} {} the target, and what was copied of it is lost there: {} at most, by partitions these offsets"
                        + " of the source: {}. {}",
                names.describe(topic),
                idOnTarget.equals(Uuid.ZERO_UUID) ? "is gone from" : "was created anew, with id " + idOnTarget + ", on",
                Words.count(records, "record"),
                offsets,
                switch (policy) {
                    case COPY_AGAIN -> "The mirror copies them again";
                    case STOP_PARTITION ->
                        "The mirror stops these partitions; start it with --on-target-lost "
                                + TargetLossPolicy.COPY_AGAIN + " to copy them again, or with " + TargetLossPolicy.GO_ON
                                + " to copy what comes next";
                    case GO_ON -> "The mirror goes on with what comes next";
                });
    }

    /** Stops copying these partitions. */
    void stop(Collection<TopicPartition> partitions) {
        stopped.addAll(partitions);
    }

    /** Returns the partitions that are no longer copied. */
    Set<TopicPartition> stopped() {
        return stopped;
    }

    /** Returns {@code some} and those that are stopped. */
    Set<TopicPartition> withStopped(Collection<TopicPartition> some) {
        Set<TopicPartition> all = new HashSet<>(some);
        all.addAll(stopped);
        return all;
    }

    void forget(Collection<TopicPartition> partitions) {
        stopped.removeAll(partitions);
    }
}
