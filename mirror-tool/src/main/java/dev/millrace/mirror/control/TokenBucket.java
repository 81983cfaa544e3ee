package dev.millrace.mirror.control;

import java.util.concurrent.TimeUnit;

/**
 * Says when bytes may pass, so that at most {@code bytesPerSecond} do on average. Whoever reserves first passes first. A
 * reservation of any size passes as soon as those before it are paid for; time in which nothing was reserved counts for
 * one second at most. So in any time no more pass than {@code bytesPerSecond × (time + 1 s)} and one reservation.
 *
 * <p><b>Threads:</b> any.
 * <p><b>Ordering:</b> guarded by itself, for a few nanoseconds.
 */
final class TokenBucket {
    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final long bytesPerSecond;
    /** When all that is reserved is paid for. */
    private long paidNanos;

    /** Pays nothing for the time before {@code nowNanos}. */
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
