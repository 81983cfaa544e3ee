package dev.millrace.client.partitioner;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.StalledBrokers;
import dev.millrace.client.metadata.TopicImage;

/**
 * Turns what waits for each partition into {@link PartitionShares}: partitions with long queues, which are those of slow
 * brokers, get less; those of brokers that take nothing, or without a leader, get nothing (KIP-794).
 *
 * <p><b>Threads:</b> any, without a lock; it looks at every partition of the topic.
 */
public final class PartitionLoad {
    private final Accumulator accumulator;
    private final StalledBrokers[] stalled;
    private final boolean adaptive;

    /**
     * Looks at the queues of {@code accumulator}.
     *
     * @param stalled as each I/O thread sees its own connections
     * @param adaptive without it all partitions that have a leader get the same share
     */
    public PartitionLoad(Accumulator accumulator, StalledBrokers[] stalled, boolean adaptive) {
        this.accumulator = accumulator;
        this.stalled = stalled;
        this.adaptive = adaptive;
    }

    PartitionShares shares(ClusterImage image, TopicImage topic) {
        int partitions = topic.partitions();
        int[] reserve = new int[partitions];
        int least = Integer.MAX_VALUE;
        int candidates = 0;
        long nowMs = nowMs();
        for (int p = 0; p < partitions; p++) {
            reserve[p] = reserve(image, topic.leader(p), nowMs);
            candidates = reserve[p] < least ? 1 : candidates + (reserve[p] == least ? 1 : 0);
            least = Math.min(least, reserve[p]);
        }
        int[] backlog = adaptive ? accumulator.backlog(topic.index(), partitions) : new int[partitions];
        int[] chosen = new int[candidates];
        int[] waiting = new int[candidates];
        int i = 0;
        for (int p = 0; p < partitions; p++) {
            if (reserve[p] == least) {
                chosen[i] = p;
                waiting[i++] = backlog[p];
            }
        }
        return new PartitionShares(image.version(), chosen, waiting);
    }

    /** 0 for a partition that can be sent to; others are chosen only while there is none with a smaller number. */
    private int reserve(ClusterImage image, int leader, long nowMs) {
        if (image.node(leader) == null) {
            return 2;
        }
        return adaptive && isStalled(leader, nowMs) ? 1 : 0;
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
