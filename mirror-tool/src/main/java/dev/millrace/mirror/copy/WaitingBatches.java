package dev.millrace.mirror.copy;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.LongPredicate;

/**
 * Steps in the copying of one partition, which wait in order until its target takes something. While one waits, its
 * worker goes on with other partitions.
 *
 * <p><b>Threads:</b> the partition's worker; any thread may call {@link #isWaiting} and {@link #resumeIn}.
 */
final class WaitingBatches {
    private final LongPredicate tryPass;
    private final Deque<Step> steps = new ArrayDeque<>();
    private final AtomicBoolean isResuming = new AtomicBoolean();
    private volatile boolean isWaiting;

    private record Step(long bytes, BooleanSupplier work) {
        /** Returns the rest of the step, which has had its turn. */
        Step rest() {
            return new Step(0, work);
        }
    }

    /** @param tryPass whether the next step, of so many bytes, may be done now; if so, it is done */
    WaitingBatches(LongPredicate tryPass) {
        this.tryPass = tryPass;
    }

    /**
     * Runs this step, which copies so many bytes, after all that waits.
     *
     * @param step returns false if the target takes no more for now; the rest waits, and the step is called again
     */
    void add(long bytes, BooleanSupplier step) {
        steps.add(new Step(bytes, step));
        doPossible();
    }

    /** Lets the partition's worker try again what waits, if anything does. */
    void resumeIn(CopyWorker worker) {
        if (isWaiting && isResuming.compareAndSet(false, true)) {
            worker.execute(() -> {
                isResuming.set(false);
                doPossible();
            });
        }
    }

    /** Does what may be done now, even if nothing was known to wait. Called by the partition's worker. */
    void doPossible() {
        try {
            while (!steps.isEmpty() && tryPass.test(steps.element().bytes)) {
                isWaiting = false;
                Step next = steps.remove();
                if (!next.work.getAsBoolean()) {
                    steps.addFirst(next.rest());
                    return;
                }
            }
        } finally {
            isWaiting = !steps.isEmpty();
        }
    }

    boolean isWaiting() {
        return isWaiting;
    }
}
