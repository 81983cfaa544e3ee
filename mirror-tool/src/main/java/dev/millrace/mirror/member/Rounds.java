package dev.millrace.mirror.member;

import java.util.concurrent.TimeUnit;

/**
 * When a member looks after all its partitions: once a second, and less often while nothing happens, because with
 * thousands of partitions it is what an idle mirror does most.
 *
 * <p><b>Threads:</b> the member's.
 */
final class Rounds {
    private static final long BUSY_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** With the longest pause between two polls still less than what a measured lag counts as known. */
    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(3);

    private long lastNanos;
    private boolean hasWork = true;

    Rounds(long nowNanos) {
        lastNanos = nowNanos;
    }

    /** Notes whether there was or is anything to do since the last round. */
    void onWork(boolean now) {
        hasWork |= now;
    }

    /** Returns whether a round is due, which then begins. */
    boolean isDue(long nowNanos) {
        if (nowNanos - lastNanos <= (hasWork ? BUSY_NANOS : IDLE_NANOS)) {
            return false;
        }
        lastNanos = nowNanos;
        hasWork = false;
        return true;
    }
}
