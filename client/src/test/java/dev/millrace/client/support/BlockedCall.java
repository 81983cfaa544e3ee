package dev.millrace.client.support;

import dev.millrace.testkit.Await;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A call on its own thread that blocks until the test ends the wait. */
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

    /** Starts the call, and blocks until the call waits. */
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

    /** What the call threw, or null; blocks until it has ended. */
    public Throwable thrown() throws Exception {
        return end.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    /** Whether the interrupt flag was set after the call; ask after {@link #thrown}. */
    public boolean wasInterruptedAtEnd() {
        return interruptedAtEnd;
    }
}
