package dev.millrace.testkit;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** The one place where tests wait: it polls a condition until the condition holds or time runs out. */
public final class Await {
    private static final Duration POLL_INTERVAL = Duration.ofMillis(20);

    private Await() {}

    /**
     * Blocks the calling thread until the condition holds; checks it every 20 ms.
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
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0 || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(POLL_INTERVAL.toNanos());
        }
        return true;
    }
}
