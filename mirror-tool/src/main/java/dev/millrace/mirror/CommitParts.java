package dev.millrace.mirror;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * Splits positions into commits that a group's coordinator takes. It writes each commit as a single batch, which must not be
 * larger than {@code max.message.bytes} of {@code __consumer_offsets} (1 MB by default), and otherwise answers with an
 * "unexpected error".
 */
final class CommitParts {
    /** With the longest names of a group and a topic, a position and its {@link CommitMetadata} have 0.8 KB. */
    static final int MAX_POSITIONS = 1_000;

    private CommitParts() {}

    /** The positions, in maps of at most {@link #MAX_POSITIONS}. */
    static List<Map<TopicPartition, OffsetAndMetadata>> of(Map<TopicPartition, OffsetAndMetadata> positions) {
        return Clusters.batches(positions.entrySet(), MAX_POSITIONS).stream()
                .map(part -> part.stream().collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)))
                .toList();
    }
}
