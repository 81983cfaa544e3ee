package dev.millrace.mirror.progress;

import dev.millrace.mirror.cluster.Clusters;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Splits positions into commits that a group's coordinator takes. The coordinator writes each commit as a single batch.
 * If that is larger than {@code max.message.bytes} of {@code __consumer_offsets} (1 MB by default), it answers with an
 * "unexpected error".
 */
public final class CommitParts {
    /** A position and its {@link CommitMetadata} take at most 0.8 KB, with the longest names of group and topic. */
    public static final int MAX_POSITIONS = 1_000;

    private static final Logger LOG = LoggerFactory.getLogger(CommitParts.class);

    private CommitParts() {}

    /**
     * Commits part by part. Returns the partitions of the parts that the group took: not of those sent while it
     * assigned its partitions, nor of any from the first part that timed out.
     *
     * @param commitSync commits a part; blocks
     */
    static Set<TopicPartition> commit(
            Map<TopicPartition, OffsetAndMetadata> positions,
            Consumer<Map<TopicPartition, OffsetAndMetadata>> commitSync) {
        Set<TopicPartition> committed = new HashSet<>();
        for (Map<TopicPartition, OffsetAndMetadata> part : of(positions)) {
            try {
                commitSync.accept(part);
                committed.addAll(part.keySet());
            } catch (RebalanceInProgressException | CommitFailedException e) {
                LOG.debug("The group takes no positions while it assigns its partitions: {}", part.keySet(), e);
            } catch (TimeoutException e) {
                LOG.debug("The group does not take the positions of {} in time", part.keySet(), e);
                break; // The member must poll first.
            }
        }
        return committed;
    }

    /** Splits the positions into maps of at most {@link #MAX_POSITIONS}. */
    public static List<Map<TopicPartition, OffsetAndMetadata>> of(Map<TopicPartition, OffsetAndMetadata> positions) {
        return Clusters.batches(positions.entrySet(), MAX_POSITIONS).stream()
                .map(part -> part.stream().collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)))
                .toList();
    }
}
