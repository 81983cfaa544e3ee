package dev.millrace.jmh;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread in the place of an I/O thread: works while there is something to do, then parks until it is woken or a time
 * is up.
 *
 * <p><b>Threads:</b> {@code runOnce} runs on the loop's own thread; any thread may call {@code wake} and {@code stop}.
 * <p><b>Ordering:</b> {@code wake} leaves a permit, as a selector's wake-up does, so that none is lost.
 */
abstract class IoLoop {
    private final Thread thread = new Thread(this::run, "io");
    private volatile boolean stopped;

    /**
     * Does all work that there is.
     *
     * @return how many milliseconds the thread may park before the next call; 0 for the next call at once
     */
    abstract long runOnce();

    /** Called after each wait. */
    void onAwake() {}

    final void start() {
        thread.setDaemon(true);
        thread.start();
    }

    final void wake() {
        LockSupport.unpark(thread);
    }

    private void run() {
        while (!stopped) {
            long waitMs = runOnce();
            if (waitMs > 0) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(waitMs));
                onAwake();
            }
        }
    }

    static long nowMs() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
    }

    /** Ends the thread; waits at most a second for that. */
    final void stop() throws InterruptedException {
        stopped = true;
        wake();
        thread.join(TimeUnit.SECONDS.toMillis(1));
    }
}
