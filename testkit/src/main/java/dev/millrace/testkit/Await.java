package dev.millrace.testkit;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** The one place where tests wait: it polls a condition until the condition holds or time runs out. */
public final class Await {
    private static final Duration POLL_INTERVAL = Duration.ofMillis(20);
    /** A condition that asks brokers keeps a core busy that others need. So most of the time is left to them. */
    private static final int PAUSE_PER_CHECK = 5;

    private Await() {}

    /**
     * Blocks the calling thread until the condition holds; checks it every 20 ms, or less often if the check takes long.
     *
     * @param what the condition in words, such as "topic t has a leader", for the message when time runs out
     * @throws IllegalStateException if the condition does not hold within the timeout, or the thread is interrupted
     *     (the interrupt flag stays set); what the condition throws is passed on
     */
    public static void until(String what, Duration timeout, BooleanSupplier condition) {
        if (!holdsWithin(timeout, condition)) {
            String reason = Thread.currentThread().isInterrupted()
                    ? "Interrupted while waiting until "
                    : "Waited " + timeout.toMillis() + " ms in vain until ";
            throw new IllegalStateException(reason + what);
        }
    }

    /**
     * Blocks as {@link #until} does, and returns whether the condition holds.
     *
     * @return false if it does not within the timeout, or the thread is interrupted (the interrupt flag stays set)
     */
    public static boolean holdsWithin(Duration timeout, BooleanSupplier condition) {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (true) {
            long begin = System.nanoTime();
            if (condition.getAsBoolean()) {
                return true;
            }
            long now = System.nanoTime();
            if (now - deadline > 0 || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(Math.max(POLL_INTERVAL.toNanos(), PAUSE_PER_CHECK * (now - begin)));
        }
    }
}
