package dev.millrace.testkit;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** The one place that waits: polls a real condition until it holds, never longer than a deadline. */
public final class Await {
    private static final Duration POLL_INTERVAL = Duration.ofMillis(20);

    private Await() {}

    /**
     * Blocks the calling thread until the condition holds, asking it every 20 ms.
     *
     * @param what the condition in words, as in "topic t has a leader"; it is in the message when time runs out
     * @throws IllegalStateException when the condition does not hold within the timeout, or the thread is interrupted
     *     (its interrupt flag is then set again); whatever the condition throws passes through
     */
    public static void until(String what, Duration timeout, BooleanSupplier condition) {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException("Waited " + timeout.toMillis() + " ms in vain until " + what);
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new IllegalStateException("Interrupted while waiting until " + what);
            }
            LockSupport.parkNanos(POLL_INTERVAL.toNanos());
        }
    }
}
