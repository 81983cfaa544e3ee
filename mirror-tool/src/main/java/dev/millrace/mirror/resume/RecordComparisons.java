package dev.millrace.mirror.resume;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Lends {@link RecordComparison}s, each to one thread at a time. It opens one when none is idle, and keeps it for the
 * next that needs one.
 *
 * <p><b>Threads:</b> any.
 * <p><b>Ordering:</b> a concurrent queue hands a comparison from thread to thread, so that only who takes it out uses or
 * closes it.
 */
final class RecordComparisons {
    private final Supplier<RecordComparison> open;
    private final Runnable onAllIdle;
    private final Queue<RecordComparison> idle = new ConcurrentLinkedQueue<>();
    private final AtomicInteger asking = new AtomicInteger();

    /**
     * @param open opens a comparison
     * @param onAllIdle called when the last thread has got its answer, by this thread
     */
    RecordComparisons(Supplier<RecordComparison> open, Runnable onAllIdle) {
        this.open = open;
        this.onAllIdle = onAllIdle;
    }

    /** Returns what {@code question} finds with a comparison. */
    <T> T ask(Function<RecordComparison, T> question) {
        asking.incrementAndGet();
        try {
            return askOne(question);
        } finally {
            if (asking.decrementAndGet() == 0) {
                onAllIdle.run();
            }
        }
    }

    private <T> T askOne(Function<RecordComparison, T> question) {
        RecordComparison former = idle.poll();
        RecordComparison comparison = former == null ? open.get() : former;
        try {
            return question.apply(comparison);
        } finally {
            idle.add(comparison);
        }
    }

    /** Closes all of them, if no thread uses one: each has connections to every broker of both clusters. */
    void closeIfAllIdle() {
        if (asking.get() == 0) {
            close();
        }
    }

    /** Closes those that no thread uses. */
    void close() {
        for (RecordComparison next = idle.poll(); next != null; next = idle.poll()) {
            next.close();
        }
    }
}
