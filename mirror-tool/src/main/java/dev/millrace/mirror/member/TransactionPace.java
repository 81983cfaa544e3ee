package dev.millrace.mirror.member;

import java.util.concurrent.TimeUnit;

/**
 * Decides how long a transaction stays open, and how much of it may be in flight, from what former ones took. The link
 * to the target is idle while a transaction ends, so one that takes longer to end stays open longer. What is in flight
 * must arrive before the end, so a slow link gets less, and so do small batches over a long one: the target aborts a
 * transaction that is open for {@code transaction.timeout.ms}.
 *
 * <p><b>Threads:</b> the member's thread.
 */
final class TransactionPace {
    /** A longer time delays readers of committed records; a shorter one makes commits cost more. */
    private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(2);
    /** A transaction is open this many times as long as its end takes. */
    private static final int ENDS = 5;
    /** Limits what is written again after a transaction is aborted. */
    private static final long TRANSACTION_BYTES = 64 << 20;
    /** What is in flight should arrive within this time. */
    private static final double IN_FLIGHT_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** Little, because small batches of one partition cross a long link five at a time; a fast link soon gets more. */
    private static final long FIRST_IN_FLIGHT = 64 << 10;
    /** Some fifty of the smallest batches. */
    private static final long LEAST_IN_FLIGHT = 4 << 10;
    /** A transaction that is aborted takes its whole time-out, so the next ones must not need many trials. */
    private static final int LESS_AFTER_ABORT = 8;

    private long openNanos = SHORTEST_NANOS;
    private long inFlightBytes = FIRST_IN_FLIGHT;

    /** Returns whether a transaction that has been open so long, and has so many bytes, is to end. */
    boolean isDue(long nanos, long bytes) {
        return nanos >= openNanos || bytes >= TRANSACTION_BYTES;
    }

    /** Returns how many bytes may be in flight. */
    long inFlightBytes() {
        return inFlightBytes;
    }

    /**
     * Notes that a transaction was committed.
     *
     * @param bytes that it has
     * @param writtenNanos from its beginning until all was acknowledged
     * @param endNanos from then on
     */
    void onCommitted(long bytes, long writtenNanos, long endNanos) {
        openNanos = Math.min(LONGEST_NANOS, Math.max(SHORTEST_NANOS, ENDS * endNanos));
        if (bytes >= inFlightBytes / 2) { // otherwise it says nothing of the link
            inFlightBytes = Math.max(LEAST_IN_FLIGHT, (long) (bytes * IN_FLIGHT_NANOS / Math.max(1, writtenNanos)));
        }
    }

    /** Notes that a transaction was aborted, perhaps because what it had in flight did not arrive in time. */
    void onAborted() {
        inFlightBytes = Math.max(LEAST_IN_FLIGHT, Math.min(FIRST_IN_FLIGHT, inFlightBytes / LESS_AFTER_ABORT));
    }
}
