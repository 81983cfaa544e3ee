package dev.millrace.client.accumulator;

/**
 * Estimates the size of a partition's next batch: how large it may become, and its usual size, which counts when memory
 * is scarce. The usual size is that of a batch sent before it was full; it doubles after a full batch and halves after
 * a batch that left three quarters of it empty. {@code batch.size} limits the size after compression, which is
 * estimated from how well recent full batches compressed. {@link dev.millrace.client.memory.BufferPool#sizeFor} chooses
 * the size.
 *
 * <p><b>Threads:</b> any. Two threads may overwrite each other's update; the cost is one batch of the wrong size.
 */
final class BatchSizing {
    /** The ratio varies from batch to batch; with this margin most batches stay below {@code batch.size}. */
    private static final double RATIO_MARGIN = 1.05;

    /** Smoothing weight for better ratios; worse ones apply at once. */
    private static final double BETTER_RATIO_WEIGHT = 0.25;

    /** The usual size halves after a batch that used less than 1/4 of it. */
    private static final int SHRINK_BELOW_DIVISOR = 4;

    private final int batchSize;
    private volatile int usual;
    private volatile double ratio = 1;

    BatchSizing(int batchSize) {
        this.batchSize = batchSize;
        this.usual = 1;
    }

    /** Returns what the last batches needed, in bytes before compression; 1 before the first batch. */
    int usual() {
        return Math.min(usual, most());
    }

    /** Returns the bytes before compression that are expected to become {@code batch.size} after it. */
    int most() {
        return (int) Math.min(Integer.MAX_VALUE, Math.max(batchSize, batchSize / (ratio * RATIO_MARGIN)));
    }

    /** A batch of this capacity had no room for the next record. */
    void onFull(int capacity) {
        usual = (int) Math.max(usual, Math.min(2L * capacity, most()));
    }

    /** A batch of {@code used} bytes was finished; it has {@code size} bytes after compression. */
    void onFinished(int used, int size, boolean full) {
        if (full) {
            double seen = (double) size / used;
            ratio = seen > ratio ? Math.min(1, seen) : ratio + (seen - ratio) * BETTER_RATIO_WEIGHT;
        } else if (used > usual) {
            usual = used;
        } else if (used < usual / SHRINK_BELOW_DIVISOR) {
            usual = usual / 2;
        }
    }
}
