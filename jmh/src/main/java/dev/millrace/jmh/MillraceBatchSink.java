package dev.millrace.jmh;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.accumulator.PartitionQueue;
import dev.millrace.client.accumulator.ReadyQueue;
import java.util.function.Function;

/** Takes finished batches as our I/O thread does, and acknowledges each at once instead of sending it. */
final class MillraceBatchSink extends IoLoop {
    private static final long PRODUCER_ID = 1;
    private static final short PRODUCER_EPOCH = 0;

    private final ReadyQueue ready;
    private final Function<PartitionQueue, FinishedBatch> take;
    private int sequence;
    private long offset;

    /** @param take returns the next finished batch of a partition, or null */
    MillraceBatchSink(ReadyQueue ready, Function<PartitionQueue, FinishedBatch> take) {
        this.ready = ready;
        this.take = take;
        ready.onWake(this::wake);
    }

    @Override
    long runOnce() {
        for (PartitionQueue queue = ready.poll(); queue != null; queue = ready.poll()) {
            for (FinishedBatch batch = take.apply(queue); batch != null; batch = take.apply(queue)) {
                acknowledge(batch);
            }
        }
        return ready.trySleep(nowMs() + AppendBenchmark.LINGER_MS) ? AppendBenchmark.LINGER_MS : 0;
    }

    @Override
    void onAwake() {
        ready.markAwake();
    }

    private void acknowledge(FinishedBatch batch) {
        if (batch.isUnwritable()) {
            throw batch.failure();
        }
        batch.stamp(PRODUCER_ID, PRODUCER_EPOCH, sequence);
        batch.markSent(0);
        batch.onRequestEnded(true);
        batch.decide(offset, -1, null);
        batch.deliver();
        sequence = (sequence + batch.count()) & Integer.MAX_VALUE;
        offset += batch.count();
        batch.release();
    }
}
