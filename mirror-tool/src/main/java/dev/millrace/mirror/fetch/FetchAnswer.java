package dev.millrace.mirror.fetch;

import dev.millrace.client.metadata.ClusterDelta.LeaderHint;
import java.util.List;
import org.apache.kafka.common.Node;

/**
 * A fetch response without an error of its own.
 *
 * @param sessionId 0 if the broker has no room for the session
 * @param size bytes of the response; all of them stay in memory while any partition's part does
 * @param latencyMs time from the request to this answer
 * @param leaders new leaders that the broker named (KIP-951), with {@code endpoints} to reach them
 */
public record FetchAnswer(
        int sessionId,
        int size,
        long latencyMs,
        List<PartitionAnswer> partitions,
        List<LeaderHint> leaders,
        List<Node> endpoints) {
    /** Returns the number of partitions for which there are records. */
    int partitionsWithBytes() {
        int count = 0;
        for (PartitionAnswer partition : partitions) {
            count += partition.bytes().hasRemaining() ? 1 : 0;
        }
        return count;
    }
}
