package dev.millrace.client;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A call on a thread of its own that blocks until the test does something about it. */
final class BlockedCall {
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
    static BlockedCall of(Callable<?> call) {
        BlockedCall blocked = new BlockedCall(call);
        blocked.thread.start();
        SemanticsFixture.awaitWaiting(blocked.thread);
        return blocked;
    }

    void interrupt() {
        thread.interrupt();
    }

    /** What the call threw in the end, or null. */
    Throwable thrown() throws Exception {
        return end.get(SemanticsFixture.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    /** Whether the thread's interrupt flag was set when the call had ended; after {@link #thrown}. */
    boolean wasInterruptedAtEnd() {
        return interruptedAtEnd;
    }
}
