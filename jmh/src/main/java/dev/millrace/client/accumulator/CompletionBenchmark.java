package dev.millrace.client.accumulator;

import dev.millrace.client.memory.BufferPool;
import dev.millrace.client.raw.BatchLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.clients.producer.internals.FutureRecordMetadata;
import org.apache.kafka.clients.producer.internals.ProducerBatch;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What the I/O thread does when a batch of 500 records is acknowledged: it runs the callbacks and completes the
 * futures. Then {@code get} is called on one future. An operation is a record. Each thread has its own batch; nothing
 * is shared.
 *
 * <p>The callbacks are added once, in the setup, because completion is measured, not {@code send}. A batch can be
 * completed only once. Therefore ours makes a new batch and result around the same callbacks each time. The stock batch
 * cannot be taken apart; its field {@code finalState} is set to null instead, which costs almost nothing.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class CompletionBenchmark {
    private static final int RECORDS = 500;
    private static final int BATCH_SIZE = 64 << 10;
    private static final byte[] VALUE = new byte[100];
    private static final Header[] NO_HEADERS = {};
    private static final TopicPartition PARTITION = new TopicPartition("topic", 0);

    /** The callbacks of a thread's records. */
    @State(Scope.Thread)
    public static class Callbacks {
        @Param({"true", "false"})
        boolean callbacks;

        long lastOffset;

        Callback callback() {
            return callbacks ? (metadata, error) -> lastOffset = metadata.offset() : null;
        }

        /** For the setup: throws unless the callbacks have run, the last one last. */
        void check(RecordMetadata last) {
            if (last.offset() != RECORDS - 1 || (callbacks && lastOffset != RECORDS - 1)) {
                throw new IllegalStateException("The batch was not completed");
            }
        }
    }

    /** A thread's batches in Millrace. */
    @State(Scope.Thread)
    public static class MillraceBatch {
        private final BatchCallbacks withCallbacks = new BatchCallbacks();
        private final byte[] buffer = new byte[BatchLayout.HEADER_SIZE];
        private PartitionQueue queue;
        private EncodableRecord record;

        @Setup
        public void send(Callbacks callbacks) throws Exception {
            BufferPool pool = new BufferPool(BATCH_SIZE, BATCH_SIZE, () -> {});
            queue = new PartitionQueue(
                    new Accumulator(pool, ReadyQueues.of(new ReadyQueue()), BatchCodec.NONE, () -> 0, 0), PARTITION, 0);
            record = new EncodableRecord(0, null, VALUE, RecordEncoder.NO_HEADERS);
            for (int i = 0; callbacks.callbacks && i < RECORDS; i++) {
                withCallbacks.add(i, record, callbacks.callback());
            }
            callbacks.check(complete());
        }

        RecordMetadata complete() throws InterruptedException, ExecutionException {
            BatchResult result = new BatchResult(PARTITION, null);
            FinishedBatch batch = new FinishedBatch(queue, result, withCallbacks, buffer, 0);
            batch.encode(BatchCodec.NONE, BatchLayout.HEADER_SIZE, RECORDS, 0, 0);
            batch.decide(0, -1, null);
            batch.deliver();
            return new RecordFuture(result, RECORDS - 1, record).get();
        }
    }

    /** A thread's batch in the stock client. */
    @State(Scope.Thread)
    public static class Kafka431Batch {
        private static final VarHandle FINAL_STATE;

        static {
            try {
                FINAL_STATE = MethodHandles.privateLookupIn(ProducerBatch.class, MethodHandles.lookup())
                        .findVarHandle(ProducerBatch.class, "finalState", AtomicReference.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private ProducerBatch batch;
        private AtomicReference<?> finalState;
        private FutureRecordMetadata lastFuture;

        @Setup
        public void send(Callbacks callbacks) throws Exception {
            batch = new ProducerBatch(
                    PARTITION,
                    MemoryRecords.builder(
                            ByteBuffer.allocate(BATCH_SIZE),
                            RecordBatch.MAGIC_VALUE_V2,
                            Compression.NONE,
                            TimestampType.CREATE_TIME,
                            0),
                    0);
            for (int i = 0; i < RECORDS; i++) {
                lastFuture = batch.tryAppend(0, null, VALUE, NO_HEADERS, callbacks.callback(), 0);
            }
            finalState = (AtomicReference<?>) FINAL_STATE.get(batch);
            callbacks.check(complete());
        }

        RecordMetadata complete() throws InterruptedException, ExecutionException {
            finalState.set(null);
            batch.complete(0, -1);
            return lastFuture.get();
        }
    }

    /** Millrace, where futures read the result of the batch, so that completion visits only callbacks. */
    @Benchmark
    @OperationsPerInvocation(RECORDS)
    public RecordMetadata millrace(MillraceBatch batch, Callbacks callbacks) throws Exception {
        return batch.complete();
    }

    /** {@code ProducerBatch.complete}, which visits every record. */
    @Benchmark
    @OperationsPerInvocation(RECORDS)
    public RecordMetadata kafka431(Kafka431Batch batch, Callbacks callbacks) throws Exception {
        return batch.complete();
    }
}
