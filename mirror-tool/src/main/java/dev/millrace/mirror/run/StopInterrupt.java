package dev.millrace.mirror.run;

import dev.millrace.mirror.control.Lifecycle;
import java.util.concurrent.TimeUnit;

/**
 * Interrupts the thread that has made it when the mirror is told to stop, until it is closed.
 *
 * <p><b>Threads:</b> one makes and closes it; its own waits.
 */
final class StopInterrupt implements AutoCloseable {
    static final String THREAD = "mirror-start-stop";

    private final Thread interrupted = Thread.currentThread();
    private final Thread waiting;
    private boolean isClosed;
    private boolean hasInterrupted;

    StopInterrupt(Lifecycle lifecycle) {
        waiting = new Thread(() -> awaitStop(lifecycle), THREAD);
        waiting.setDaemon(true);
        waiting.start();
    }

    private void awaitStop(Lifecycle lifecycle) {
        try {
            if (lifecycle.awaitStop(Long.MAX_VALUE, TimeUnit.NANOSECONDS)) {
                interruptUnlessClosed();
            }
        } catch (InterruptedException e) {
            // It is closed, so there is nothing to wait for.
        }
    }

    private synchronized void interruptUnlessClosed() {
        if (!isClosed) {
            hasInterrupted = true;
            interrupted.interrupt();
        }
    }

    synchronized boolean hasInterrupted() {
        return hasInterrupted;
    }

    /** Takes back an interrupt that nobody has noticed. */
    @Override
    public void close() {
        waiting.interrupt();
        synchronized (this) {
            isClosed = true;
            if (hasInterrupted) {
                var unused = Thread.interrupted();
            }
        }
    }
}
