package dev.millrace.client.io;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;

/**
 * Brokers that go on as leaders because they have not heard yet that others were elected. Such a one writes to its own
 * log, and tells what it remembers of producers, but no replica follows it any more: it acknowledges only what all of
 * them had before, and the rest is truncated when it hears the news.
 */
final class FormerLeaders {
    private final Random random;

    /** By the partition as its leader knows it. */
    private final Map<SimulatedPartition, SimulatedPartition> formers = new LinkedHashMap<>();

    FormerLeaders(Random random) {
        this.random = random;
    }

    /** The partition as this broker knows it. */
    SimulatedPartition asKnownTo(int node, SimulatedPartition partition) {
        SimulatedPartition former = formers.get(partition);
        return former != null && former.leader == node ? former : partition;
    }

    /** The partition as the leader of this epoch knows it. */
    SimulatedPartition asKnownIn(int leaderEpoch, SimulatedPartition partition) {
        SimulatedPartition former = formers.get(partition);
        return former != null && former.leaderEpoch == leaderEpoch ? former : partition;
    }

    /** Another broker is elected, with all that is acknowledged; the leader may not notice. */
    void replace(SimulatedPartition partition, int node) {
        SimulatedPartition former = partition.fork();
        partition.elect(node, random, 0);
        if (former.leader != node && random.nextBoolean()) {
            former.acknowledgeNoMoreThan(partition.batches());
            end(formers.put(partition, former));
        } else if (asKnownTo(node, partition) != partition) {
            end(formers.remove(partition));
        }
    }

    /** One of them hears the news. */
    void endOne() {
        Iterator<SimulatedPartition> it = formers.values().iterator();
        if (it.hasNext()) {
            end(it.next());
            it.remove();
        }
    }

    private static void end(SimulatedPartition former) {
        if (former != null) {
            former.lead(-1); // those who wait for its answer hear that it does not lead
        }
    }
}
