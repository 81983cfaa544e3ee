package dev.millrace.mirror.resume;

import java.util.ArrayList;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Lends {@link RecordComparison}s, each to one thread at a time. It opens one when none is idle, and keeps it for the
 * next that needs one.
 *
 * <p><b>Threads:</b> any.
 * <p><b>Ordering:</b> a concurrent queue hands a comparison from thread to thread.
 */
final class RecordComparisons {
    private final Supplier<RecordComparison> open;
    private final Queue<RecordComparison> idle = new ConcurrentLinkedQueue<>();

    /** @param open opens a comparison */
    RecordComparisons(Supplier<RecordComparison> open) {
        this.open = open;
    }

    /** Returns what {@code question} finds with a comparison. */
    <T> T ask(Function<RecordComparison, T> question) {
        RecordComparison former = idle.poll();
        RecordComparison comparison = former == null ? open.get() : former;
        try {
            return question.apply(comparison);
        } finally {
            idle.add(comparison);
        }
    }

    /** Closes all of them. To be called when no thread uses one. */
    void close() {
        new ArrayList<>(idle).forEach(RecordComparison::close);
    }
}
