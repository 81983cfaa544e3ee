package dev.millrace.client.partitioner;

import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.TopicImage;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Partitions for the records of one topic that have no key. A thread stays on one partition for a turn, which is about
 * as many bytes as a batch holds, and then moves to another (KIP-480, KIP-794). Successive turns of all threads
 * together go to partitions far apart, and give each its share of bytes.
 *
 * <p>Threads are spread over stripes, each with its own turn, so that they do not all append to the same batch. There
 * are as many stripes as can fill their batches within {@code linger.ms}; one while few records are sent.
 *
 * <p><b>Threads:</b> any, without a lock. Once in a number of turns, one thread counts the backlog again for all.
 * <p><b>Ordering:</b> a stripe's word changes by compare-and-set, so that one end of a turn starts one new turn only.
 * Shares are immutable and published by a volatile store. The number of stripes is a hint.
 */
final class StickyPartitions {
    private static final VarHandle STRIPES = MethodHandles.arrayElementVarHandle(long[].class);

    /** Longs between two stripes: two cache lines, because processors fetch them in pairs. */
    private static final int STRIDE = 16;

    /** Offset from a stripe's word to the time, in milliseconds, at which its turn began. */
    private static final int START_OFFSET = 1;

    private static final int MAX_STRIPES =
            Integer.highestOneBit(Math.max(1, Runtime.getRuntime().availableProcessors()) * 2 - 1);

    /** Shares are renewed once in {@code partitions / 4} turns, so that a turn costs a look at about 4 partitions. */
    private static final int PARTITIONS_PER_TURN = 4;

    private static final int MIN_TURNS_PER_RENEWAL = 4;

    /** A stripe's word is {@code partition(32) | bytes left(32)}; no bytes left means that the turn is over. */
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
     * Creates the partitions for one topic.
     *
     * @param bytesPerTurn a little less than a batch holds, so that a turn does not put a single record into the next
     *     batch
     * @param lingerMs milliseconds that a batch may take to fill
     * @param firstTurn a random number, so that producers do not start with the same partition
     */
    StickyPartitions(PartitionLoad load, int bytesPerTurn, long lingerMs, long firstTurn) {
        this.load = load;
        this.bytesPerTurn = bytesPerTurn;
        this.longTurnMs = Math.max(1, lingerMs);
        this.turns = new AtomicLong(firstTurn);
        this.renewAt = firstTurn;
    }

    /** Returns the partition for the calling thread's next record, and takes the record's bytes from the turn. */
    int next(ClusterImage image, TopicImage topic, long recordSize) {
        int stripe = (int) (Thread.currentThread().getId() & (stripesInUse - 1)) * STRIDE;
        while (true) {
            long seen = (long) STRIPES.getOpaque(stripes, stripe);
            int partition = (int) (seen >>> 32);
            int left = (int) seen;
            boolean isOver = left <= 0 || partition >= topic.partitions();
            if (isOver) {
                partition = startTurn(image, topic);
                left = bytesPerTurn;
            }
            long after = (long) partition << 32 | Math.max(0, left - recordSize);
            if (STRIPES.compareAndSet(stripes, stripe, seen, after)) {
                if (isOver) {
                    adjustStripes(stripe, topic.partitions());
                }
                return partition;
            }
        }
    }

    private int startTurn(ClusterImage image, TopicImage topic) {
        long turn = turns.getAndIncrement();
        PartitionShares current = shares;
        boolean isStale = current == null || current.imageVersion() != image.version() || turn - renewAt >= 0;
        if (isStale && renewing.compareAndSet(false, true)) {
            try {
                current = load.shares(image, topic);
                shares = current;
                renewAt = turn + Math.max(MIN_TURNS_PER_RENEWAL, topic.partitions() / PARTITIONS_PER_TURN);
            } finally {
                renewing.set(false);
            }
        }
        int partition = current == null ? Integer.MAX_VALUE : current.partitionFor(turn);
        boolean isKnown = partition < topic.partitions(); // another thread's image may be newer than ours
        return isKnown ? partition : (int) Math.floorMod(turn, (long) topic.partitions());
    }

    /**
     * Doubles the stripes if a turn took at most a quarter of the linger time; halves them if it took longer than that
     * time.
     */
    private void adjustStripes(int stripe, int partitions) {
        long nowMs = load.nowMs();
        long beganMs = (long) STRIPES.getOpaque(stripes, stripe + START_OFFSET);
        STRIPES.setOpaque(stripes, stripe + START_OFFSET, nowMs);
        if (beganMs == 0) {
            return; // the first turn of the stripe
        }
        int inUse = stripesInUse;
        if (nowMs - beganMs > longTurnMs) {
            stripesInUse = Math.max(1, inUse / 2);
        } else if ((nowMs - beganMs) * 4 <= longTurnMs && inUse < MAX_STRIPES && inUse * 2 <= partitions) {
            for (int fresh = inUse; fresh < inUse * 2; fresh++) {
                STRIPES.setOpaque(stripes, fresh * STRIDE + START_OFFSET, 0L);
            }
            stripesInUse = inUse * 2;
        }
    }
}
