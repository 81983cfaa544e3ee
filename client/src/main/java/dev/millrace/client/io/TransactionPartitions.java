package dev.millrace.client.io;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Which partitions are in the open transaction. With the newer protocol writing adds them; with the older one they are
 * added by the first I/O thread before anything is written to them.
 *
 * <p><b>Threads:</b> {@code tryAdmit} by the partition's I/O thread, {@code batchFailed} by any; the rest by the first.
 * <p><b>Ordering:</b> all words are volatile. A partition is enrolled before its thread is made to look at it again.
 */
final class TransactionPartitions {
    private final Queue<PartitionState> wanted = new ConcurrentLinkedQueue<>();
    private final Runnable wakeFirst;
    private volatile boolean explicit;
    private volatile boolean started;
    private volatile boolean needsNewEpoch;

    /** Calls {@code wakeFirst} when there is a partition to add. */
    TransactionPartitions(Runnable wakeFirst) {
        this.wakeFirst = wakeFirst;
    }

    /** Whether batches of the partition may be sent in this transaction; if not, it is asked for. */
    boolean tryAdmit(PartitionState partition, long transaction) {
        if (!explicit) {
            startIfImplicit();
            return true;
        }
        if (partition.addedIn() == transaction) {
            return true;
        }
        if (partition.markWanted(transaction)) {
            wanted.add(partition);
            wakeFirst.run();
        }
        return false;
    }

    /** The next partition to add, or null. */
    PartitionState pollWanted() {
        return wanted.poll();
    }

    /** Whether partitions and groups have to be added before they are written to. */
    boolean isExplicit() {
        return explicit;
    }

    /** Whether the coordinator may know of the transaction, so that it must hear of its end. */
    boolean isStarted() {
        return started;
    }

    /** The coordinator has added something to it. */
    void start() {
        started = true;
    }

    /** A record or offsets are in it: by the newer protocol, writing them may start it, and its end gives a new epoch. */
    void startIfImplicit() {
        if (!explicit && !started) {
            started = true;
        }
    }

    /** Sequences of this epoch cannot be relied on any more. */
    void needNewEpoch() {
        needsNewEpoch = true;
    }

    boolean needsNewEpoch() {
        return needsNewEpoch;
    }

    /** Before another transaction is begun. */
    void reset(boolean nextIsExplicit) {
        explicit = nextIsExplicit;
        started = false;
        needsNewEpoch = false;
    }
}
