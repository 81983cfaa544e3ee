package dev.millrace.mirror.control;

import java.util.concurrent.TimeUnit;

/**
 * Decides when bytes may pass, so that on average at most {@code bytesPerSecond} do. Reservations pass in the order in
 * which they were made. A reservation of any size passes as soon as those before it are paid for; unused time counts
 * for one second at most. So within any time, no more pass than {@code bytesPerSecond × (time + 1 s)} and one
 * reservation.
 *
 * <p><b>Threads:</b> any.
 * <p><b>Ordering:</b> its own monitor guards the state, for a few nanoseconds each time.
 */
final class TokenBucket {
    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final long bytesPerSecond;
    /** The time at which everything reserved is paid for. */
    private long paidNanos;

    /** Starts at {@code nowNanos}, without credit for the time before. */
    TokenBucket(long bytesPerSecond, long nowNanos) {
        this.bytesPerSecond = bytesPerSecond;
        this.paidNanos = nowNanos;
    }

    long bytesPerSecond() {
        return bytesPerSecond;
    }

    /** Returns when the bytes may pass, in nanoseconds of the same clock. */
    synchronized long reserve(long bytes, long nowNanos) {
        long due = paidNanos - (nowNanos - SECOND_NANOS) > 0 ? paidNanos : nowNanos - SECOND_NANOS;
        paidNanos = due + (long) ((double) bytes / bytesPerSecond * SECOND_NANOS);
        return due;
    }
}
