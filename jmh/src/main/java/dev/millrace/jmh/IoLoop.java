package dev.millrace.jmh;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Stands in for an I/O thread: does rounds while there is something to do, else parks until it is woken or its time is up.
 *
 * <p><b>Threads:</b> {@code runOnce} runs on the loop's own thread; {@code wake} and {@code stop} may be called by any.
 * <p><b>Ordering:</b> {@code wake} leaves a permit, as a selector's wake-up does, so none is lost.
 */
abstract class IoLoop {
    private final Thread thread = new Thread(this::run, "io");
    private volatile boolean stopped;

    /**
     * Does what there is to do.
     *
     * @return milliseconds that may be spent parked before the next round; 0 to go on at once
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

    /** Ends the thread; waits at most a second for its last round. */
    final void stop() throws InterruptedException {
        stopped = true;
        wake();
        thread.join(TimeUnit.SECONDS.toMillis(1));
    }
}
