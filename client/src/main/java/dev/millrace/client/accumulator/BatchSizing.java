package dev.millrace.client.accumulator;

import dev.millrace.client.memory.BufferPool;

/**
 * How large a partition's next batch may be, and how large it should be at least when memory is scarce: so large as a batch that
 * was sent before it was full, twice as large after one that was full, half as large after one that left three quarters of that
 * empty. What counts against {@code batch.size} is the size after compression, estimated from how full batches were compressed
 * lately. {@link BufferPool#sizeFor} chooses.
 *
 * <p><b>Threads:</b> any. Two threads may each overwrite what the other has learned; that costs a batch of the wrong size,
 * and nothing else.
 */
final class BatchSizing {
    /** Batches compress one a little better, one a little worse: stay below {@code batch.size} with most. */
    private static final double RATIO_MARGIN = 1.05;

    /** Of a better ratio than expected so much is believed at once; of a worse one everything. */
    private static final double BETTER_RATIO_WEIGHT = 0.25;

    /** A batch that needed so small a part of the usual size says that this is too large. */
    private static final int SHRINK_BELOW_SHARE = 4;

    private final int batchSize;
    private volatile int usual;
    private volatile double ratio = 1;

    BatchSizing(int batchSize) {
        this.batchSize = batchSize;
        this.usual = 1;
    }

    /** What the last batches needed, in bytes before compression; 1 before the first one. */
    int usual() {
        return Math.min(usual, most());
    }

    /** What compression is expected to make {@code batch.size} of, in bytes before it. */
    int most() {
        return (int) Math.min(Integer.MAX_VALUE, Math.max(batchSize, batchSize / (ratio * RATIO_MARGIN)));
    }

    /** A batch with so much room was too small for the next record. */
    void onFull(int capacity) {
        usual = (int) Math.max(usual, Math.min(2L * capacity, most()));
    }

    /** A batch was finished: {@code used} bytes, {@code size} after compression. */
    void onFinished(int used, int size, boolean full) {
        if (full) {
            double seen = (double) size / used;
            ratio = seen > ratio ? Math.min(1, seen) : ratio + (seen - ratio) * BETTER_RATIO_WEIGHT;
        } else if (used > usual) {
            usual = used;
        } else if (used < usual / SHRINK_BELOW_SHARE) {
            usual = usual / 2;
        }
    }
}
