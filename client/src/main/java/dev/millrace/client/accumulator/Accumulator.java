package dev.millrace.client.accumulator;

import dev.millrace.client.memory.BufferPool;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queues of all partitions and what they share: memory, codec, clock, and the hand-over to the I/O threads.
 *
 * <p><b>Threads:</b> any. {@code append} takes no lock, and waits only while there is no memory.
 */
public final class Accumulator {
    private static final Logger log = LoggerFactory.getLogger(Accumulator.class);

    private final BufferPool pool;
    private final ReadyQueues ready;
    private final BatchCodec codec;
    private final LongSupplier clock;
    private final LongSupplier lingerClock;
    private final long lingerMs;
    private final AppendCounters counters = new AppendCounters();
    private final PartitionQueues queues = new PartitionQueues();
    private final AtomicInteger flushes = new AtomicInteger();
    private final AtomicBoolean hasWarned = new AtomicBoolean();

    /** Written by the first I/O thread. */
    private volatile boolean isShortForWaitingRecords;

    private volatile boolean stopsAtFailures;

    /** Uses one clock for both purposes. */
    public Accumulator(BufferPool pool, ReadyQueues ready, BatchCodec codec, LongSupplier clock, long lingerMs) {
        this(pool, ready, codec, clock, clock, lingerMs);
    }

    /**
     * Creates an empty accumulator. Both clocks give monotonic milliseconds and are read once per batch.
     *
     * @param lingerClock may be slow; then batches linger that much less
     */
    public Accumulator(
            BufferPool pool,
            ReadyQueues ready,
            BatchCodec codec,
            LongSupplier clock,
            LongSupplier lingerClock,
            long lingerMs) {
        this.pool = pool;
        this.ready = ready;
        this.codec = codec;
        this.clock = clock;
        this.lingerClock = lingerClock;
        this.lingerMs = lingerMs;
    }

    /**
     * Appends a record to its partition's open batch.
     *
     * @param topicIndex a small number that belongs to this topic alone, for the accumulator's whole life
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
     * Returns the queue to which the records of a partition are appended.
     *
     * @param topicIndex a small number that belongs to this topic alone, for the accumulator's whole life
     * @return null when the producer is closed and the partition has no queue yet
     */
    public PartitionQueue queue(String topic, int topicIndex, int partition) {
        PartitionQueue queue = queues.get(topicIndex, partition);
        return queue != null ? queue : queues.create(this, topic, topicIndex, partition);
    }

    /** Returns the queue of a partition whose topic may be gone; null if it never had a record. Searches all topics. */
    public PartitionQueue find(TopicPartition partition) {
        return queues.find(partition);
    }

    /** Returns the memory of all batches. */
    public BufferPool pool() {
        return pool;
    }

    void onOpened(PartitionQueue queue, long lingerUntilMs) {
        queue.ready().offer(queue, lingerUntilMs); // first: a batch that is not handed over is never sent
        if (isUrgent() || isShortOfMemory()) {
            queue.ready().wakeIfAsleep();
        }
        pool.recheckWaiters();
    }

    /** Logs only the first such batch: a codec that cannot be loaded fails all of them. */
    void onUnwritable(TopicPartition partition, Throwable cause) {
        if (!hasWarned.get() && hasWarned.compareAndSet(false, true)) {
            FailureLog.warn(
                    log,
                    "A batch for {} could not be written; its records fail, and so may all others",
                    partition,
                    cause);
        }
    }

    ReadyQueue readyOf(int partitionId) {
        return ready.ofPartition(partitionId);
    }

    BatchCodec codec() {
        return codec;
    }

    long lingerMs() {
        return lingerMs;
    }

    /** Returns when a batch that is opened now will have lingered. */
    long lingerUntilMs() {
        return lingerClock.getAsLong() + lingerMs;
    }

    /** Returns the counters of what happens while records are appended. */
    public AppendCounters counters() {
        return counters;
    }

    /** Returns monotonic milliseconds. */
    public long nowMs() {
        return clock.getAsLong();
    }

    /** Whether open batches are sent now, regardless of {@code linger.ms}, because of a flush or close. */
    public boolean isUrgent() {
        return queues.isClosed() || flushes.get() > 0;
    }

    /** Says whether a record that waits without a thread lacks memory; if so, open batches are sent. */
    public void setShortForWaiting(boolean isShort) {
        if (isShort != isShortForWaitingRecords) {
            isShortForWaitingRecords = isShort;
            if (isShort) {
                ready.wake();
            }
        }
    }

    /** Whether a thread or a record waits for memory; then no open batch may linger while its broker is idle. */
    public boolean isShortOfMemory() {
        return isShortForWaitingRecords || pool.isShort();
    }

    /** From now on, what follows a failed batch of a partition fails, too. */
    public void stopPartitionsAtFailures() {
        stopsAtFailures = true;
    }

    boolean stopsAtFailures() {
        return stopsAtFailures;
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

    /**
     * Accepts no further records and wakes the threads that wait for memory; batches already here can still be taken.
     */
    public void close() {
        queues.close();
        pool.close();
        ready.wake();
    }

    /** Returns the number of batches waiting in each of a topic's partitions, not in flight. Costs O(partitions). */
    public int[] backlog(int topicIndex, int partitions) {
        return queues.backlog(topicIndex, partitions);
    }

    /** Whether records are no longer accepted. */
    public boolean isClosed() {
        return queues.isClosed();
    }

    /** Runs the action for every partition of one I/O thread that has a queue. */
    @SuppressWarnings("ReferenceEquality") // ready queues are compared by identity
    public void forEachQueue(ReadyQueue ioThread, Consumer<PartitionQueue> action) {
        queues.forEach(queue -> {
            if (queue.ready() == ioThread) {
                action.accept(queue);
            }
        });
    }
}
