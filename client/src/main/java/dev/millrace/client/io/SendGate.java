package dev.millrace.client.io;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.LongAdder;

/**
 * Lets sends in while a transaction is open, without a lock and without a write shared by all threads, and tells when all
 * that were let in have come out again.
 *
 * <p><b>Threads:</b> {@code tryEnter} and {@code exit} by any thread, in pairs; {@code open} and {@code close} by one at a
 * time; {@code isEmpty} by any.
 * <p><b>Ordering:</b> who enters counts itself, a full fence, then looks whether the gate is (still) open; who closes
 * writes {@code open}, a full fence, then reads the counts. One of the two sees the other. What a sender did before it
 * counted itself out is seen by who reads that count. The exits are read first: each of them has an entry that is then
 * seen as well, so that equal sums mean that nobody is inside, although a sum is no snapshot.
 */
final class SendGate {
    private final LongAdder entered = new LongAdder();
    private final LongAdder exited = new LongAdder();
    private final Runnable onExitWhileClosed;
    private volatile boolean open;

    /** Calls {@code onExitWhileClosed} when someone comes out of a closed gate, who may have been the last. */
    SendGate(Runnable onExitWhileClosed) {
        this.onExitWhileClosed = onExitWhileClosed;
    }

    /** False if the gate is closed; else call {@link #exit} afterwards. */
    boolean tryEnter() {
        if (!open) {
            return false; // without counting: threads that hammer at a closed gate must not hide that nobody is inside
        }
        entered.increment();
        VarHandle.fullFence();
        if (open) {
            return true;
        }
        exit();
        return false;
    }

    void exit() {
        VarHandle.releaseFence();
        exited.increment();
        VarHandle.fullFence();
        if (!open) {
            onExitWhileClosed.run();
        }
    }

    void open() {
        open = true;
    }

    void close() {
        open = false;
    }

    /** Whether nobody is inside; once true of a closed gate, it stays so until the gate is opened. */
    boolean isEmpty() {
        VarHandle.fullFence();
        long out = exited.sum();
        VarHandle.acquireFence();
        boolean empty = out == entered.sum();
        VarHandle.acquireFence();
        return empty;
    }
}
