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
 * <p><b>Threads:</b> the partition's worker; any thread may call {@link #isWaiting}, {@link #isBusy} and {@link
 * #resumeIn}, the member's thread {@link #beginVisit} and {@link #endVisit}.
 * <p><b>Ordering:</b> the worker tells of work before it begins and after it has ended; {@code isTold} is exchanged, so
 * work of which it did not tell again is seen by the visit that follows.
 */
final class WaitingBatches {
    private final LongPredicate tryPass;
    private final Runnable onWork;
    private final Deque<Step> steps = new ArrayDeque<>();
    private final AtomicBoolean isResuming = new AtomicBoolean();
    private volatile boolean isWaiting;
    private volatile boolean isAtWork;
    /** Whether a visit is due. */
    private final AtomicBoolean isTold = new AtomicBoolean();

    private record Step(long bytes, BooleanSupplier work) {
        /** Returns the rest of the step, which has had its turn. */
        Step rest() {
            return new Step(0, work);
        }
    }

    /**
     * @param tryPass whether the next step, of so many bytes, may be done now; if so, it is done
     * @param onWork is called once before each visit that is due, by the worker or the visitor
     */
    WaitingBatches(LongPredicate tryPass, Runnable onWork) {
        this.tryPass = tryPass;
        this.onWork = onWork;
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
        isAtWork = true;
        tell();
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
            isAtWork = false;
            tell();
        }
    }

    private void tell() {
        if (!isTold.getAndSet(true)) {
            onWork.run();
        }
    }

    /** Call it before looking at what the worker has done. */
    void beginVisit() {
        isTold.getAndSet(false);
    }

    /** Ends the visit, and asks for another one if that is needed. */
    void endVisit(boolean isAnotherNeeded) {
        if (isAnotherNeeded) {
            tell();
        }
    }

    boolean isWaiting() {
        return isWaiting;
    }

    /** Returns whether a step waits or is being done. */
    boolean isBusy() {
        return isWaiting || isAtWork;
    }
}
