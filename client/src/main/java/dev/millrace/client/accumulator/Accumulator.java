package dev.millrace.client.accumulator;

import dev.millrace.client.memory.BufferPool;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.producer.Callback;

/**
 * All partitions' queues, and what they share: memory, codec, clock, and the hand-over to the I/O threads.
 *
 * <p><b>Threads:</b> any. {@code append} takes no lock and does not wait while memory is at hand.
 */
public final class Accumulator {
    private final BufferPool pool;
    private final ReadyQueues ready;
    private final BatchCodec codec;
    private final LongSupplier clock;
    private final long lingerMs;
    private final AppendCounters counters = new AppendCounters();
    private final PartitionQueues queues = new PartitionQueues();
    private final AtomicInteger flushes = new AtomicInteger();

    /** Written by the first I/O thread. */
    private volatile boolean shortForWaiting;

    /** Reads monotonic milliseconds from {@code clock}, once a batch. */
    public Accumulator(BufferPool pool, ReadyQueues ready, BatchCodec codec, LongSupplier clock, long lingerMs) {
        this.pool = pool;
        this.ready = ready;
        this.codec = codec;
        this.clock = clock;
        this.lingerMs = lingerMs;
    }

    /**
     * Appends a record to its partition's open batch.
     *
     * @param topicIndex a small number that no other topic of this accumulator has, nor ever had
     * @param maxBlockMs how long to wait for memory, milliseconds
     * @return null when the producer is closed
     * @throws org.apache.kafka.clients.producer.BufferExhaustedException no memory within that time
     */
    public RecordFuture append(
            String topic, int topicIndex, int partition, EncodableRecord record, Callback callback, long maxBlockMs)
            throws InterruptedException {
        PartitionQueue queue = queue(topic, topicIndex, partition);
        return queue == null ? null : queue.append(record, callback, maxBlockMs);
    }

    /**
     * Where the records of a partition are appended.
     *
     * @param topicIndex a small number that no other topic of this accumulator has, nor ever had
     * @return null when the producer is closed and the partition has no queue yet
     */
    public PartitionQueue queue(String topic, int topicIndex, int partition) {
        PartitionQueue queue = queues.get(topicIndex, partition);
        return queue != null ? queue : queues.create(this, topic, topicIndex, partition);
    }

    /** Memory for a batch that the record opens; null if it found room elsewhere while it waited. */
    byte[] acquire(BatchSizing sizing, EncodableRecord record, long maxBlockMs, BooleanSupplier stillNeeded)
            throws InterruptedException {
        int size = pool.sizeFor(sizing.usual(), sizing.most(), RecordEncoder.batchSizeUpperBound(record));
        return pool.acquire(size, maxBlockMs, stillNeeded);
    }

    byte[] trim(byte[] buffer, int used) {
        return pool.trim(buffer, used);
    }

    /** Takes memory for something other than a batch, if there is some that nobody waits for. */
    public boolean reserve(int size) {
        return pool.reserve(size);
    }

    /** Gives back what {@link #reserve} took. */
    public void unreserve(long size) {
        pool.unreserve(size);
    }

    void release(byte[] buffer, int reserved) {
        pool.release(buffer, reserved);
    }

    /** Bytes of an ordinary batch's buffer. */
    public int batchSize() {
        return pool.batchSize();
    }

    void onOpened(PartitionQueue queue, long createdMs) {
        queue.ready().offer(queue, createdMs + lingerMs); // first of all: what is not handed over is never sent
        if (isUrgent() || isShortOfMemory()) {
            queue.ready().wakeIfAsleep();
        }
        pool.onOpened();
    }

    PartitionUse useOf(PartitionUse.Partition partition) {
        return new PartitionUse(partition, pool);
    }

    void onFinished(PartitionQueue queue) {
        queue.ready().offer(queue, Long.MIN_VALUE);
    }

    ReadyQueue readyOf(int partitionId) {
        return ready.ofPartition(partitionId);
    }

    BatchCodec codec() {
        return codec;
    }

    /** What happened while records were appended. */
    public AppendCounters counters() {
        return counters;
    }

    /** Monotonic milliseconds. */
    public long nowMs() {
        return clock.getAsLong();
    }

    /** Whether open batches go now, whatever {@code linger.ms} says: someone flushes or closes. */
    public boolean isUrgent() {
        return queues.isClosed() || flushes.get() > 0;
    }

    /** Tells whether a record lacks memory that waits without a thread; if so, open batches are to be sent. */
    public void setShortForWaiting(boolean isShort) {
        if (isShort != shortForWaiting) {
            shortForWaiting = isShort;
            if (isShort) {
                ready.wake();
            }
        }
    }

    /** Whether a thread or a record waits for memory, so that no open batch may linger while its broker has nothing to do. */
    public boolean isShortOfMemory() {
        return shortForWaiting || pool.isShort();
    }

    /** Blocks until every record appended before this call is acknowledged or has failed. */
    public void flush() throws InterruptedException {
        flushes.incrementAndGet();
        try {
            ready.wake();
            List<BatchResult> pending = new ArrayList<>();
            queues.forEach(queue -> addUndone(queue.newestResult(), pending));
            for (BatchResult result : pending) {
                result.await();
            }
        } finally {
            flushes.decrementAndGet();
        }
    }

    private static void addUndone(BatchResult newest, List<BatchResult> pending) {
        for (BatchResult result = newest; result != null; result = result.previous()) {
            if (!result.isDone()) {
                pending.add(result);
            }
        }
    }

    /** Lets no further record in and wakes who waits for memory; what is already here can still be taken. */
    public void close() {
        queues.close();
        pool.close();
        ready.wake();
    }

    /** How many batches wait in each of a topic's partitions; those in flight do not count. Costs O(partitions). */
    public int[] backlog(int topicIndex, int partitions) {
        return queues.backlog(topicIndex, partitions);
    }

    /** Whether no further record gets in. */
    public boolean isClosed() {
        return queues.isClosed();
    }

    /** Every partition of one I/O thread that has a queue. */
    @SuppressWarnings("ReferenceEquality") // a hand-over has no value, only an identity
    public void forEachQueue(ReadyQueue ioThread, Consumer<PartitionQueue> action) {
        queues.forEach(queue -> {
            if (queue.ready() == ioThread) {
                action.accept(queue);
            }
        });
    }
}
