package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.BatchCodec;
import dev.millrace.client.accumulator.EncodableRecord;
import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.accumulator.ReadyQueues;
import dev.millrace.client.accumulator.SealCause;
import dev.millrace.client.memory.BufferPool;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.errors.TransactionAbortedException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IoThreadTransactionShareTest {
    /**
     * With the newer protocol the stock producer ends such a transaction with the coordinator, which gives a new epoch.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCountTheTransactionAsStartedWhenItsRecordFailedBeforeItWasLookedAt(boolean explicit) throws Exception {
        TransactionPartitions partitions = new TransactionPartitions(() -> {});
        TransactionState state = new TransactionState("id", () -> {});
        state.facts().reset(explicit);
        IoThreadTransactionShare share = new IoThreadTransactionShare(state, partitions, () -> {});

        share.onFailed(failedBatch());

        assertThat(state.facts().known().isEndTold()).isEqualTo(!explicit);
    }

    private static FinishedBatch failedBatch() throws InterruptedException {
        ReadyQueues ready = ReadyQueues.forThreads(1);
        Accumulator accumulator =
                new Accumulator(new BufferPool(1 << 20, 100, ready::wake), ready, BatchCodec.NONE, () -> 0, 0);
        accumulator.append("t", 0, 0, new EncodableRecord(0, null, new byte[10], new byte[] {0}), null, 0);
        List<FinishedBatch> batches = new ArrayList<>();
        accumulator.forEachQueue(ready.get(0), queue -> {
            queue.sealOldest(SealCause.FAILURE);
            batches.add(queue.peek());
        });
        batches.get(0).decide(-1, -1, new TransactionAbortedException());
        return batches.get(0);
    }
}
