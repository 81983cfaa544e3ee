package dev.millrace.client.io;

import dev.millrace.client.accumulator.FinishedBatch;

/** For tests that look at records, not at metrics. */
final class NoMetrics implements SenderMetrics {
    @Override
    public void onRetry(FinishedBatch batch) {}

    @Override
    public void onSplit() {}

    @Override
    public void onFailed(FinishedBatch batch) {}
}
