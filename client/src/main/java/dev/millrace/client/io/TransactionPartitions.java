package dev.millrace.client.io;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The partitions that must be added to the open transaction before anything is written to them (the older protocol).
 *
 * <p><b>Threads:</b> {@code tryAdmit} by the partition's I/O thread; {@code pollWanted} by the first.
 * <p><b>Ordering:</b> a partition is marked as added before it is handed over to its thread again.
 */
final class TransactionPartitions {
    private final Queue<PartitionState> wanted = new ConcurrentLinkedQueue<>();
    private final Runnable wakeFirst;

    /** Calls {@code wakeFirst} when there is a partition to add. */
    TransactionPartitions(Runnable wakeFirst) {
        this.wakeFirst = wakeFirst;
    }

    /** Returns true if the partition was added to this transaction; otherwise requests that. */
    boolean tryAdmit(PartitionState partition, long transaction) {
        if (partition.membership.addedIn() == transaction) {
            return true;
        }
        if (partition.membership.markWanted(transaction)) {
            wanted.add(partition);
            wakeFirst.run();
        }
        return false;
    }

    /** Returns the next partition to add, or null. */
    PartitionState pollWanted() {
        return wanted.poll();
    }
}
