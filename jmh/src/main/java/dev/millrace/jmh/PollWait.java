package dev.millrace.jmh;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The wait of an I/O thread that has no network to wait for.
 *
 * <p><b>Threads:</b> one thread waits; any thread wakes it.
 * <p><b>Ordering:</b> {@code wakeup} leaves a permit, as a selector's wake-up does, so that none is lost.
 */
public final class PollWait {
    private volatile Thread waiting;

    /** Waits until {@link #wakeup} or the time is up. */
    public void await(long timeoutMs) {
        if (waiting == null) {
            waiting = Thread.currentThread(); // does not wait, because earlier wake-ups left no permit
        } else if (timeoutMs > 0) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(timeoutMs));
        }
    }

    /** Ends a wait, or prevents the next one. */
    public void wakeup() {
        LockSupport.unpark(waiting);
    }
}
