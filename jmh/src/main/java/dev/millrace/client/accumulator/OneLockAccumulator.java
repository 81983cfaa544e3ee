package dev.millrace.client.accumulator;

import dev.millrace.client.memory.BufferPool;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.apache.kafka.common.TopicPartition;

/**
 * The control of the benchmarks: an accumulator with one short lock per partition. A record is encoded outside the
 * lock; under the lock it gets its place and is copied. Memory, batch format, checksum (outside the lock), futures and
 * hand-over use the same classes as {@link Accumulator}. It has no callbacks and no compression, and cannot be closed.
 *
 * <p><b>Threads:</b> {@code append} by any thread; {@code take} by the I/O thread.
 */
public final class OneLockAccumulator {
    private final BufferPool pool;
    private final ReadyQueue ready;
    private final LongSupplier clock;
    private final long lingerMs;
    private final ConcurrentHashMap<String, OneLockQueue[]> topics = new ConcurrentHashMap<>();

    /** An accumulator for the partitions of one topic. */
    public OneLockAccumulator(
            BufferPool pool, ReadyQueue ready, LongSupplier clock, long lingerMs, String topic, int partitions) {
        this.pool = pool;
        this.ready = ready;
        this.clock = clock;
        this.lingerMs = lingerMs;
        Accumulator memory = new Accumulator(pool, ReadyQueues.of(ready), BatchCodec.NONE, clock, lingerMs);
        OneLockQueue[] queues = new OneLockQueue[partitions];
        for (int p = 0; p < partitions; p++) {
            queues[p] = new OneLockQueue(this, new PartitionQueue(memory, new TopicPartition(topic, p), p));
        }
        topics.put(topic, queues);
    }

    /** Appends a record to its partition's open batch; blocks up to {@code maxBlockMs} for memory. */
    public RecordFuture append(String topic, int partition, EncodableRecord record, long maxBlockMs)
            throws InterruptedException {
        return topics.get(topic)[partition].append(record, maxBlockMs);
    }

    /** Takes the next finished batch of a partition that came out of the ready queue; null if there is none. */
    public FinishedBatch take(PartitionQueue handle) {
        return topics.get(handle.partition().topic())[handle.id()].take();
    }

    byte[] acquire(EncodableRecord record, long maxBlockMs) throws InterruptedException {
        int size = Math.max(pool.batchSize(), RecordEncoder.batchSizeUpperBound(record));
        return pool.acquire(size, maxBlockMs, () -> true);
    }

    void release(byte[] buffer) {
        pool.release(buffer);
    }

    long nowMs() {
        return clock.getAsLong();
    }

    void onOpened(PartitionQueue handle, long createdMs) {
        pool.recheckWaiters();
        ready.offer(handle, createdMs + lingerMs);
    }

    void onFinished(PartitionQueue handle) {
        ready.offer(handle, Long.MIN_VALUE);
    }
}
