package dev.millrace.client.support;

import dev.millrace.testkit.Await;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A call on a thread of its own that blocks until the test does something about it. */
public final class BlockedCall {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final CompletableFuture<Throwable> end = new CompletableFuture<>();
    private final Thread thread;
    private volatile boolean interruptedAtEnd;

    private BlockedCall(Callable<?> call) {
        thread = new Thread(
                () -> {
                    Throwable thrown = null;
                    try {
                        call.call();
                    } catch (Throwable t) {
                        thrown = t;
                    }
                    interruptedAtEnd = Thread.currentThread().isInterrupted();
                    end.complete(thrown);
                },
                "blocked-call");
        thread.setDaemon(true);
    }

    /** Starts the call and returns when it blocks. */
    public static BlockedCall of(Callable<?> call) {
        BlockedCall blocked = new BlockedCall(call);
        blocked.thread.start();
        awaitWaiting(blocked.thread);
        return blocked;
    }

    /** Blocks until the thread waits for something. */
    public static void awaitWaiting(Thread thread) {
        Await.until(
                thread.getName() + " waits",
                PATIENCE,
                () -> thread.getState() == Thread.State.TIMED_WAITING || thread.getState() == Thread.State.WAITING);
    }

    public void interrupt() {
        thread.interrupt();
    }

    /** What the call threw in the end, or null. */
    public Throwable thrown() throws Exception {
        return end.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    /** Whether the thread's interrupt flag was set when the call had ended; after {@link #thrown}. */
    public boolean wasInterruptedAtEnd() {
        return interruptedAtEnd;
    }
}
