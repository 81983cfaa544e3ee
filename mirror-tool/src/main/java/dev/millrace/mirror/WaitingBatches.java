package dev.millrace.mirror;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * Steps of the copying of one partition, which wait in order until its target takes something. While one waits, its
 * worker goes on with other partitions.
 *
 * <p><b>Threads:</b> the partition's worker; any may call {@link #isWaiting} and {@link #resumeIn}.
 */
final class WaitingBatches {
    private final BooleanSupplier isOpen;
    private final Queue<Runnable> steps = new ArrayDeque<>();
    private final AtomicBoolean isResuming = new AtomicBoolean();
    private volatile boolean isWaiting;

    /** @param isOpen whether the next step may be done now */
    WaitingBatches(BooleanSupplier isOpen) {
        this.isOpen = isOpen;
    }

    /** Does this after all that waits. */
    void add(Runnable step) {
        steps.add(step);
        doPossible();
    }

    /** If something waits, lets the partition's worker try it again. */
    void resumeIn(CopyWorker worker) {
        if (isWaiting && isResuming.compareAndSet(false, true)) {
            worker.execute(() -> {
                isResuming.set(false);
                doPossible();
            });
        }
    }

    private void doPossible() {
        try {
            while (!steps.isEmpty() && isOpen.getAsBoolean()) {
                steps.remove().run();
            }
        } finally {
            isWaiting = !steps.isEmpty();
        }
    }

    boolean isWaiting() {
        return isWaiting;
    }
}
