package dev.millrace.client.accumulator;

import dev.millrace.client.memory.BufferPool;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.common.TopicPartition;

/**
 * The batches of one partition in the order in which they were opened: a linked list whose last element is the open
 * batch, and whose first batches the I/O thread takes away.
 *
 * <p><b>Threads:</b> {@code append} by any thread, which waits only while there is no memory; the methods below
 * "I/O thread" by the I/O thread only.
 * <p><b>Ordering:</b> a batch is linked by compare-and-set on its predecessor's {@code next} after it holds its first
 * record. {@code newest} is a hint where to start looking: it may be an older batch, but never one that is not linked.
 */
public final class PartitionQueue {
    private static final double WORTH_WAITING_DIVISOR = 4;
    private static final VarHandle NEWEST;

    static {
        try {
            NEWEST = MethodHandles.lookup().findVarHandle(PartitionQueue.class, "newest", OpenBatch.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Accumulator accumulator;
    private final TopicPartition partition;
    private final int id;
    private final ReadyQueue ready;
    private final BatchSizing sizing;
    private final PartitionUse use;
    private volatile OpenBatch newest;

    /** The last batch that the I/O thread has taken; written by it alone. */
    private volatile OpenBatch taken;

    PartitionQueue(Accumulator accumulator, TopicPartition partition, int id) {
        this.accumulator = accumulator;
        this.partition = partition;
        this.id = id;
        this.ready = accumulator.readyOf(id);
        this.sizing = new BatchSizing(pool().batchSize());
        this.taken = OpenBatch.startMarker();
        this.newest = taken;
        this.use = new PartitionUse(this::hasRecords, pool());
    }

    /** Makes an {@link #append} that follows soon faster; costs almost nothing. */
    public void prefetch() {
        newest.prefetch();
    }

    /**
     * Appends a record to the open batch, or opens the next one.
     *
     * @param maxBlockMs how long to wait for memory, milliseconds
     * @return null when the queue is closed
     * @throws org.apache.kafka.clients.producer.BufferExhaustedException no memory within that time
     * @throws InterruptedException interrupted while waiting for memory
     */
    public RecordFuture append(EncodableRecord record, Callback callback, long maxBlockMs) throws InterruptedException {
        // A batch that accepts the record has no successor. Looking for one would read another word that other threads
        // write.
        RecordFuture future = newest.tryAppend(record, callback);
        return future != null ? future : appendToNewest(record, callback, maxBlockMs);
    }

    private RecordFuture appendToNewest(EncodableRecord record, Callback callback, long maxBlockMs)
            throws InterruptedException {
        OpenBatch last = newest();
        RecordFuture future = last.tryAppend(record, callback);
        long startNs = System.nanoTime();
        while (future == null && !last.isEnd()) {
            long waitedMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
            future = open(last, record, callback, Math.max(0, maxBlockMs - waitedMs));
            if (future == null) {
                last = newest();
                future = last.tryAppend(record, callback);
            }
        }
        return future;
    }

    /** Null if another thread linked its batch first. */
    private RecordFuture open(OpenBatch last, EncodableRecord record, Callback callback, long maxBlockMs)
            throws InterruptedException {
        byte[] buffer = acquire(record, maxBlockMs, () -> last.next() == null);
        if (buffer == null) {
            return null;
        }
        OpenBatch fresh = null;
        RecordFuture future;
        boolean linked = false;
        try {
            fresh = new OpenBatch(this, last.result(), buffer, accumulator.nowMs(), record.timestamp());
            future = fresh.tryAppend(record, callback);
            linked = last.casNext(fresh);
        } finally {
            if (!linked) {
                pool().release(buffer);
            }
        }
        if (!linked) {
            return null;
        }
        NEWEST.compareAndSet(this, last, fresh);
        use.update();
        accumulator.onOpened(this, fresh.createdMs());
        return future;
    }

    /** Null if the record found room elsewhere while this waited. */
    private byte[] acquire(EncodableRecord record, long maxBlockMs, BooleanSupplier stillNeeded)
            throws InterruptedException {
        int needed = RecordEncoder.batchSizeUpperBound(record);
        int size = pool().sizeFor(sizing.usual(), sizing.most(), needed);
        return pool().acquire(size, maxBlockMs, stillNeeded);
    }

    private OpenBatch newest() {
        OpenBatch seen = newest;
        OpenBatch next = seen.next();
        while (next != null) {
            NEWEST.compareAndSet(this, seen, next);
            seen = next;
            next = seen.next();
        }
        return seen;
    }

    /** Makes the partition's I/O thread look at it. Any thread may call it. */
    public void handOver() {
        ready.offer(this, Long.MIN_VALUE);
    }

    AppendCounters counters() {
        return accumulator.counters();
    }

    BatchCodec codec() {
        return accumulator.codec();
    }

    BufferPool pool() {
        return accumulator.pool();
    }

    BatchSizing sizing() {
        return sizing;
    }

    public TopicPartition partition() {
        return partition;
    }

    /** 0, 1, 2, … in the order in which partitions were first used. */
    public int id() {
        return id;
    }

    /** The ready queue of the I/O thread that owns this partition. */
    ReadyQueue ready() {
        return ready;
    }

    /** The result of the newest batch, where {@code flush} starts; null before the first batch. */
    BatchResult newestResult() {
        return newest().result();
    }

    /** How many batches wait here, including the open one; may be out of date when it returns. */
    int backlog() {
        return Math.max(0, numberOf(newest()) - numberOf(taken)); // taken may be newer than newest() was
    }

    private static int numberOf(OpenBatch batch) {
        return batch.result() == null ? 0 : batch.result().number();
    }

    // ---- I/O thread ----

    /** The oldest batch if it is finished, else null. */
    public FinishedBatch peek() {
        OpenBatch first = taken.next();
        return first == null ? null : first.finished();
    }

    /** Removes the batch that {@link #peek} returned. */
    public void take() {
        taken = taken.next();
        taken.dropReferences();
        use.update();
    }

    /** Whether records wait here, finished or not. Any thread may call this. */
    public boolean hasRecords() {
        OpenBatch first = taken.next();
        return first != null && !first.isMarker();
    }

    /** When the oldest batch was opened, on the monotonic clock; only while {@link #hasRecords}. */
    public long oldestCreatedMs() {
        return taken.next().createdMs();
    }

    /** Whether the oldest batch still takes records; only while {@link #hasRecords}. */
    public boolean isOldestOpen() {
        return !taken.next().isSealed();
    }

    /**
     * Whether the oldest batch is expected to have a quarter of {@code batch.size} when it has waited for
     * {@code linger.ms}, so that sending it earlier would make many small batches of a few large ones.
     */
    public boolean isWorthWaiting(long nowMs) {
        OpenBatch first = taken.next();
        if (first == null || first.isMarker()) {
            return false;
        }
        double bytesPerMs = first.recordBytes() / (double) Math.max(1, nowMs - first.createdMs());
        return bytesPerMs * accumulator.lingerMs() >= pool().batchSize() / WORTH_WAITING_DIVISOR;
    }

    /** Seals the oldest batch; the thread that makes its last commit offers it to the ready queue. */
    public void sealOldest(SealCause cause) {
        seal(taken.next(), cause);
    }

    private void seal(OpenBatch batch, SealCause cause) {
        if (batch.seal()) {
            counters().countSealed(cause);
        }
    }

    /** Accepts no further records. Batches already here stay. */
    void close() {
        OpenBatch last = newest();
        while (!last.isEnd()) {
            seal(last, SealCause.CLOSE);
            last.casNext(OpenBatch.endMarker(last));
            last = newest();
        }
    }
}
