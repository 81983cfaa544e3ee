package dev.millrace.client.partitioner;

import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.TopicImage;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Partitions for the keyless records of one topic: a thread stays on one partition for about a batch's worth of bytes, its
 * turn, then moves on to another (KIP-480, KIP-794). Successive turns, whoever takes them, go to partitions far apart and
 * give each its share of bytes.
 *
 * <p>Threads are spread over stripes, each with a turn of its own, so that they do not all meet in one batch. There are as many
 * stripes as can fill their batches before {@code linger.ms} is over: one while little is sent.
 *
 * <p><b>Threads:</b> any, without a lock. Every so many turns one thread counts the backlog anew for all.
 * <p><b>Ordering:</b> a stripe's word changes by compare-and-set, so that two threads never take two turns for one; the shares are
 * immutable and published by a volatile store. How many stripes there are is a hint.
 */
final class StickyPartitions {
    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);

    /** Longs between two stripes: two cache lines, as processors fetch them in pairs. */
    private static final int STRIDE = 16;

    /** Behind a stripe's word: when its turn began. */
    private static final int BEGAN = 1;

    private static final int MAX_STRIPES =
            Integer.highestOneBit(Math.max(1, Runtime.getRuntime().availableProcessors()) * 2 - 1);

    /** Shares are renewed after one turn for every so many partitions: a turn then costs a few looks, however many there are. */
    private static final int PARTITIONS_PER_TURN = 4;

    private static final int MIN_TURNS = 4;

    /** Each {@code partition(32) | bytes left(32)}; no bytes left means that the turn is over. */
    private final long[] stripes = new long[MAX_STRIPES * STRIDE];

    private final PartitionLoad load;
    private final int bytesPerTurn;
    private final long longTurnMs;
    private volatile int stripesInUse = 1;
    private volatile PartitionShares shares;
    private final AtomicLong turns;
    private final AtomicBoolean renewing = new AtomicBoolean();
    private volatile long renewAt;

    /**
     * For one topic.
     *
     * @param bytesPerTurn a little less than a batch holds, so that a turn does not leave a record alone in the next one
     * @param lingerMs how long a batch may take to fill
     * @param firstTurn chance, so that producers do not start on the same partition
     */
    StickyPartitions(PartitionLoad load, int bytesPerTurn, long lingerMs, long firstTurn) {
        this.load = load;
        this.bytesPerTurn = bytesPerTurn;
        this.longTurnMs = Math.max(1, lingerMs);
        this.turns = new AtomicLong(firstTurn);
        this.renewAt = firstTurn;
    }

    /** The partition for the calling thread's next record. */
    int next(ClusterImage image, TopicImage topic, int recordSize) {
        int stripe = (int) (Thread.currentThread().getId() & (stripesInUse - 1)) * STRIDE;
        while (true) {
            long seen = (long) WORD.getOpaque(stripes, stripe);
            int partition = (int) (seen >>> 32);
            int left = (int) seen;
            boolean over = left <= 0 || partition >= topic.partitions();
            if (over) {
                partition = nextTurn(image, topic);
                left = bytesPerTurn;
            }
            long after = (long) partition << 32 | Math.max(0, left - recordSize);
            if (WORD.compareAndSet(stripes, stripe, seen, after)) {
                if (over) {
                    adjustStripes(stripe, topic.partitions());
                }
                return partition;
            }
        }
    }

    private int nextTurn(ClusterImage image, TopicImage topic) {
        long mine = turns.getAndIncrement();
        PartitionShares current = shares;
        boolean stale = current == null || current.imageVersion() != image.version() || mine - renewAt >= 0;
        if (stale && renewing.compareAndSet(false, true)) {
            try {
                current = load.shares(image, topic);
                shares = current;
                renewAt = mine + Math.max(MIN_TURNS, topic.partitions() / PARTITIONS_PER_TURN);
            } finally {
                renewing.set(false);
            }
        }
        int partition = current == null ? Integer.MAX_VALUE : current.partitionFor(mine);
        boolean known = partition < topic.partitions(); // another thread's image may be newer than ours
        return known ? partition : (int) Math.floorMod(mine, (long) topic.partitions());
    }

    /** More stripes if batches fill long before they have lingered, fewer if they do not fill. */
    private void adjustStripes(int stripe, int partitions) {
        long nowMs = load.nowMs();
        long beganMs = (long) WORD.getOpaque(stripes, stripe + BEGAN);
        WORD.setOpaque(stripes, stripe + BEGAN, nowMs);
        if (beganMs == 0) {
            return; // its first turn
        }
        int inUse = stripesInUse;
        if (nowMs - beganMs > longTurnMs) {
            stripesInUse = Math.max(1, inUse / 2);
        } else if ((nowMs - beganMs) * 4 <= longTurnMs && inUse < MAX_STRIPES && inUse * 2 <= partitions) {
            for (int fresh = inUse; fresh < inUse * 2; fresh++) {
                WORD.setOpaque(stripes, fresh * STRIDE + BEGAN, 0L);
            }
            stripesInUse = inUse * 2;
        }
    }
}
