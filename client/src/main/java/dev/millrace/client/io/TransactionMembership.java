package dev.millrace.client.io;

/**
 * Tracks the transactions to which a partition belongs. Transactions are identified by their numbers.
 *
 * <p><b>Threads:</b> the partition's I/O thread calls {@link #markWanted} and {@link #addedIn}, the first one {@link
 * #isWantedIn} and {@link #markAdded}.
 * <p><b>Ordering:</b> both fields are volatile, each written by one thread. {@code wantedIn} is written before the
 * partition is added to the queue of {@link TransactionPartitions}; {@code addedIn} before the partition is handed over
 * to its own thread again.
 */
final class TransactionMembership {
    private volatile long wantedIn;
    private volatile long addedIn;

    /** Marks the partition for addition to this transaction; returns false if it was already marked. */
    boolean markWanted(long transaction) {
        boolean isNew = wantedIn != transaction;
        wantedIn = transaction;
        return isNew;
    }

    boolean isWantedIn(long transaction) {
        return wantedIn == transaction;
    }

    void markAdded(long transaction) {
        addedIn = transaction;
    }

    /** Returns the last transaction to which the partition was added. */
    long addedIn() {
        return addedIn;
    }
}
