package dev.millrace.client.io;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The partitions of the open transaction. With the newer protocol (KIP-890) writing to a partition adds it; with the
 * older one the first I/O thread adds it before anything is written to it.
 *
 * <p><b>Threads:</b> {@code tryAdmit} by the partition's I/O thread; {@code markStartedIfImplicit},
 * {@code requireNewEpoch} and {@code markUnknownWrite} by every I/O thread; the rest by the first.
 * <p><b>Ordering:</b> all words are volatile. A partition is marked as added before it is handed over to its thread
 * again.
 */
final class TransactionPartitions {
    private final Queue<PartitionState> wanted = new ConcurrentLinkedQueue<>();
    private final Runnable wakeFirst;
    private volatile boolean explicit;
    private volatile boolean started;
    private volatile boolean needsNewEpoch;
    private volatile boolean mayHaveUnknownWrites;

    /** Calls {@code wakeFirst} when there is a partition to add. */
    TransactionPartitions(Runnable wakeFirst) {
        this.wakeFirst = wakeFirst;
    }

    /**
     * True if batches of the partition may be sent in this transaction; if not, requests that the partition is added.
     */
    boolean tryAdmit(PartitionState partition, long transaction) {
        if (!explicit) {
            markStartedIfImplicit();
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

    /** Whether the coordinator may know of the transaction, so that it must be told of its end. */
    boolean isStarted() {
        return started;
    }

    /** The coordinator has added a partition or group to the transaction. */
    void markStarted() {
        started = true;
    }

    /** It has a record or offsets: with the newer protocol writing them may start it, and its end gives a new epoch. */
    void markStartedIfImplicit() {
        if (!explicit && !started) {
            started = true;
        }
    }

    /** The next transaction must not use this epoch: its sequences may have a gap. */
    void requireNewEpoch() {
        needsNewEpoch = true;
    }

    boolean needsNewEpoch() {
        return needsNewEpoch;
    }

    /** A record failed that may be written nevertheless, so it is not known which sequence its broker expects. */
    void markUnknownWrite() {
        mayHaveUnknownWrites = true;
    }

    boolean mayHaveUnknownWrites() {
        return mayHaveUnknownWrites;
    }

    /** Called before the next transaction is begun. */
    void reset(boolean nextIsExplicit) {
        explicit = nextIsExplicit;
        started = false;
        needsNewEpoch = false;
        mayHaveUnknownWrites = false;
    }
}
