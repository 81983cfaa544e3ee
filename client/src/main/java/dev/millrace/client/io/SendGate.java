package dev.millrace.client.io;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Admits sends while a transaction is open, without a lock and without a write shared by all threads, and tells when
 * all admitted sends have left.
 *
 * <p><b>Threads:</b> {@code tryEnter} and {@code exit} by any thread, in pairs; {@code open} and {@code close} by one
 * at a time; {@code isEmpty} by any.
 * <p><b>Ordering:</b> a sender counts itself, executes a full fence, then reads whether the gate is (still) open; the
 * closing thread writes {@code open}, executes a full fence, then reads the counts. One of the two sees the other. A
 * thread that reads the count of exits sees what the senders did before they counted themselves out. The exits are read
 * first: each of them has an entry that is then seen as well. So equal sums mean that no send is inside, although a sum
 * is no snapshot.
 */
final class SendGate {
    private final LongAdder entered = new LongAdder();
    private final LongAdder exited = new LongAdder();
    /** Counts exits for which the other counter had no memory for a new cell: a send must not seem to stay inside. */
    private final AtomicLong exitedWithoutMemory = new AtomicLong();

    private final Runnable onExitWhileClosed;
    private volatile boolean open;

    /** Calls {@code onExitWhileClosed} when a send, perhaps the last one, leaves the closed gate. */
    SendGate(Runnable onExitWhileClosed) {
        this.onExitWhileClosed = onExitWhileClosed;
    }

    /** Returns false if the gate is closed; otherwise call {@link #exit} afterwards. */
    boolean tryEnter() {
        if (!open) {
            return false; // without counting: repeated attempts at a closed gate must not hide that no send is inside
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
        try {
            exited.increment();
        } catch (OutOfMemoryError e) {
            exitedWithoutMemory.incrementAndGet();
        }
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

    /** Whether no send is inside. Once true for a closed gate, it stays true until the gate is opened. */
    boolean isEmpty() {
        VarHandle.fullFence();
        long out = exited.sum() + exitedWithoutMemory.get();
        VarHandle.acquireFence();
        boolean empty = out == entered.sum();
        VarHandle.acquireFence();
        return empty;
    }
}
