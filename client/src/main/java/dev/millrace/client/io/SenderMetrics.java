package dev.millrace.client.io;

import dev.millrace.client.accumulator.FinishedBatch;

/**
 * Counts what happens to batches at the brokers.
 *
 * <p><b>Threads:</b> called by I/O threads.
 */
public interface SenderMetrics {
    /** The batch will be sent again. */
    void onRetry(FinishedBatch batch);

    /** A batch was too large and is split. */
    void onSplit();

    /** The batch has failed; its callbacks are about to run. */
    void onFailed(FinishedBatch batch);
}
