package dev.millrace.jmh;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.BatchCodec;
import dev.millrace.client.accumulator.BufferPool;
import dev.millrace.client.accumulator.EncodableRecord;
import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.accumulator.OneLockAccumulator;
import dev.millrace.client.accumulator.PartitionQueue;
import dev.millrace.client.accumulator.ReadyQueue;
import dev.millrace.client.accumulator.ReadyQueues;
import dev.millrace.client.accumulator.RecordEncoder;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.MetadataSnapshot;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Appends records with 100-byte values, without callbacks, while a thread in the place of the I/O thread acknowledges
 * every full batch at once. The three accumulators do the same work with the same memory, batch size and clock reads:
 * <ul>
 *   <li>{@code millrace}: claims by compare-and-set, and threads write side by side;
 *   <li>{@code oneLock}: the control, which encodes outside a lock and copies under one short lock;
 *   <li>{@code kafka431}: the published {@code RecordAccumulator}.
 * </ul>
 * {@code -t} sets the number of threads; {@code -prof gc -prof dev.millrace.jmh.CpuProfiler} add bytes
 * and CPU per call.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 2,
        jvmArgsAppend = {"-Xms1g", "-Xmx1g"})
public class AppendBenchmark {
    /** So long that all three send only full batches. */
    static final long LINGER_MS = 1000;

    private static final String TOPIC = "topic";
    private static final int VALUE_SIZE = 100;
    private static final int BATCH_SIZE = 64 << 10;
    private static final long MEMORY = 64 << 20;
    private static final long MAX_BLOCK_MS = 60_000;
    private static final Header[] NO_HEADERS = {};

    /** The records of a thread: the same value to each partition in turn. Each thread starts at another partition. */
    @State(Scope.Thread)
    public static class RecordSource {
        private static final AtomicInteger THREADS = new AtomicInteger();

        final byte[] value = new byte[VALUE_SIZE];
        final byte[] headers = RecordEncoder.encodeHeaders(NO_HEADERS);
        private int last = THREADS.getAndIncrement();

        int partition(int partitions) {
            last = last + 1 < partitions ? last + 1 : 0;
            return last;
        }

        EncodableRecord record() {
            return new EncodableRecord(System.currentTimeMillis(), null, value, headers);
        }
    }

    /** Millrace. */
    @State(Scope.Benchmark)
    public static class Millrace {
        @Param({"1", "32"})
        int partitions;

        Accumulator accumulator;
        private MillraceBatchSink sink;

        @Setup
        public void start() {
            ReadyQueue ready = new ReadyQueue();
            BufferPool pool = new BufferPool(MEMORY, BATCH_SIZE, ready::wake);
            accumulator = new Accumulator(pool, ReadyQueues.of(ready), BatchCodec.NONE, IoLoop::nowMs, LINGER_MS);
            sink = new MillraceBatchSink(ready, Millrace::take);
            sink.start();
        }

        private static FinishedBatch take(PartitionQueue queue) {
            FinishedBatch batch = queue.peek();
            if (batch != null) {
                queue.take();
            }
            return batch;
        }

        @TearDown
        public void stop() throws InterruptedException {
            sink.stop();
        }
    }

    /** The control. */
    @State(Scope.Benchmark)
    public static class OneLock {
        @Param({"1", "32"})
        int partitions;

        OneLockAccumulator accumulator;
        private MillraceBatchSink sink;

        @Setup
        public void start() {
            ReadyQueue ready = new ReadyQueue();
            BufferPool pool = new BufferPool(MEMORY, BATCH_SIZE, ready::wake);
            accumulator = new OneLockAccumulator(pool, ready, IoLoop::nowMs, LINGER_MS, TOPIC, partitions);
            sink = new MillraceBatchSink(ready, accumulator::take);
            sink.start();
        }

        @TearDown
        public void stop() throws InterruptedException {
            sink.stop();
        }
    }

    /** The stock client, kafka-clients 4.3.1. */
    @State(Scope.Benchmark)
    public static class Kafka431 {
        @Param({"1", "32"})
        int partitions;

        RecordAccumulator accumulator;
        Cluster cluster;
        KafkaBatchSink sink;
        private Metrics metrics;

        @Setup
        public void start() {
            metrics = new Metrics();
            MetadataSnapshot snapshot = KafkaMetadata.snapshot(KafkaMetadata.response(List.of(TOPIC), partitions));
            cluster = snapshot.cluster();
            accumulator = new RecordAccumulator(
                    new LogContext(),
                    BATCH_SIZE,
                    Compression.NONE,
                    (int) LINGER_MS,
                    100,
                    1000,
                    120_000,
                    metrics,
                    "producer-metrics",
                    Time.SYSTEM,
                    null,
                    new org.apache.kafka.clients.producer.internals.BufferPool(
                            MEMORY, BATCH_SIZE, metrics, Time.SYSTEM, "producer-metrics"));
            sink = new KafkaBatchSink(accumulator, snapshot);
            sink.start();
        }

        @TearDown
        public void stop() throws InterruptedException {
            sink.stop();
            metrics.close();
        }
    }

    /** Appends to our accumulator. */
    @Benchmark
    public Future<RecordMetadata> millrace(Millrace to, RecordSource from) throws InterruptedException {
        int partition = from.partition(to.partitions);
        return to.accumulator.append(TOPIC, 0, partition, from.record(), null, MAX_BLOCK_MS);
    }

    /** Appends to the control. */
    @Benchmark
    public Future<RecordMetadata> oneLock(OneLock to, RecordSource from) throws InterruptedException {
        return to.accumulator.append(TOPIC, from.partition(to.partitions), from.record(), MAX_BLOCK_MS);
    }

    /** Appends to the stock accumulator. As in {@code KafkaProducer}, a full or new batch wakes the I/O thread. */
    @Benchmark
    public Future<RecordMetadata> kafka431(Kafka431 to, RecordSource from) throws InterruptedException {
        long nowMs = System.currentTimeMillis();
        RecordAccumulator.RecordAppendResult result = to.accumulator.append(
                TOPIC,
                from.partition(to.partitions),
                nowMs,
                null,
                from.value,
                NO_HEADERS,
                null,
                MAX_BLOCK_MS,
                nowMs,
                to.cluster);
        if (result.batchIsFull || result.newBatchCreated) {
            to.sink.wake();
        }
        return result.future;
    }
}
