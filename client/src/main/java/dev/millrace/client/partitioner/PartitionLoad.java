package dev.millrace.client.partitioner;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.StalledBrokers;
import dev.millrace.client.metadata.TopicImage;
import org.apache.kafka.common.Node;

/**
 * Computes {@link PartitionShares} from the number of batches that wait in each partition: partitions with long queues,
 * which are those of slow brokers, get less; partitions of stalled brokers, or without a leader, get nothing (KIP-794).
 * Neither do partitions whose leader is in another rack, while any in the preferred rack can be sent to (KIP-1123).
 *
 * <p><b>Threads:</b> any, without a lock. The time is proportional to the topic's partitions.
 */
public final class PartitionLoad {
    private final Accumulator accumulator;
    private final StalledBrokers[] stalled;
    private final boolean adaptive;
    private final String preferredRack;

    /**
     * Counts the batches that wait in {@code accumulator}.
     *
     * @param stalled one per I/O thread, because each knows only its own connections
     * @param adaptive if false, all partitions that have a leader get the same share
     * @param preferredRack the {@code broker.rack} of preferred leaders; empty if all racks are alike
     */
    public PartitionLoad(Accumulator accumulator, StalledBrokers[] stalled, boolean adaptive, String preferredRack) {
        this.accumulator = accumulator;
        this.stalled = stalled;
        this.adaptive = adaptive;
        this.preferredRack = preferredRack;
    }

    /** Returns the shares for the current load. */
    PartitionShares shares(ClusterImage image, TopicImage topic) {
        int partitions = topic.partitions();
        int[] rank = new int[partitions];
        int bestRank = Integer.MAX_VALUE;
        int candidates = 0;
        long nowMs = nowMs();
        for (int p = 0; p < partitions; p++) {
            rank[p] = rank(image.leader(topic, p), nowMs);
            candidates = rank[p] < bestRank ? 1 : candidates + (rank[p] == bestRank ? 1 : 0);
            bestRank = Math.min(bestRank, rank[p]);
        }
        int[] backlog = adaptive ? accumulator.backlog(topic.index(), partitions) : new int[partitions];
        int[] chosen = new int[candidates];
        int[] waiting = new int[candidates];
        int i = 0;
        for (int p = 0; p < partitions; p++) {
            if (rank[p] == bestRank) {
                chosen[i] = p;
                waiting[i++] = backlog[p];
            }
        }
        return new PartitionShares(image.version(), chosen, waiting);
    }

    /**
     * Returns 0 if the partition can be sent to within the preferred rack, 1 if it can be sent to outside of it, 2 if its
     * broker is stalled, 3 if it has no leader. Only the smallest rank is used.
     */
    private int rank(Node leaderOrNull, long nowMs) {
        if (leaderOrNull == null) {
            return 3;
        }
        if (adaptive && isStalled(leaderOrNull.id(), nowMs)) {
            return 2;
        }
        return preferredRack.isEmpty() || preferredRack.equals(leaderOrNull.rack()) ? 0 : 1;
    }

    private boolean isStalled(int broker, long nowMs) {
        for (StalledBrokers ofOneThread : stalled) {
            if (ofOneThread.isStalled(broker, nowMs)) {
                return true;
            }
        }
        return false;
    }

    long nowMs() {
        return accumulator.nowMs();
    }
}
