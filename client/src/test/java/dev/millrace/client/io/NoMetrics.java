package dev.millrace.client.io;

import dev.millrace.client.accumulator.FinishedBatch;

/** For tests that look at records; of the metrics it has the number of batches that failed. */
final class NoMetrics implements SenderMetrics {
    int failedBatches;

    @Override
    public void onRetry(FinishedBatch batch) {}

    @Override
    public void onSplit() {}

    @Override
    public void onFailed(FinishedBatch batch) {
        failedBatches++;
    }
}
