package dev.millrace.client.accumulator;

/**
 * How large a partition's next batch is made, so that memory follows use: small at first, twice as large after a batch
 * that was full, half as large after one that left three quarters of itself empty. What counts against
 * {@code batch.size} is the size after compression, estimated from how full batches were compressed lately.
 *
 * <p><b>Threads:</b> any. Two threads may each overwrite what the other has learned; that costs a batch of the wrong size,
 * and nothing else.
 */
final class BatchSizing {
    /** Batches compress one a little better, one a little worse: stay below {@code batch.size} with most. */
    private static final double SAFETY = 1.05;

    /** Of a better ratio than expected so much is believed at once; of a worse one everything. */
    private static final double BELIEF = 0.25;

    /** A batch this much emptier than it could be was too large. */
    private static final int NEARLY_EMPTY = 4;

    private final int batchSize;
    private volatile int wanted;
    private volatile double ratio = 1;

    BatchSizing(int batchSize) {
        this.batchSize = batchSize;
        this.wanted = 1;
    }

    /** Bytes before compression; the pool makes the best of it. */
    int next() {
        return Math.min(wanted, limit());
    }

    private int limit() {
        return (int) Math.min(Integer.MAX_VALUE, Math.max(batchSize, batchSize / (ratio * SAFETY)));
    }

    /** A batch with so much room was too small for the next record. */
    void onFull(int capacity) {
        wanted = (int) Math.max(wanted, Math.min(2L * capacity, limit()));
    }

    /** A batch was finished: {@code used} bytes, {@code size} after compression. */
    void onFinished(int capacity, int used, int size, boolean full) {
        if (full) {
            double seen = (double) size / used;
            ratio = seen > ratio ? Math.min(1, seen) : ratio + (seen - ratio) * BELIEF;
        } else if (used < capacity / NEARLY_EMPTY) {
            wanted = Math.min(wanted, capacity / 2);
        }
    }
}
