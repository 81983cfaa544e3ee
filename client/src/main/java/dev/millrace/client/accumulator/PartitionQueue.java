package dev.millrace.client.accumulator;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.common.TopicPartition;

/**
 * The batches of one partition in the order in which they were opened: a linked list whose last element is the open
 * batch, and whose first the I/O thread takes away.
 *
 * <p><b>Threads:</b> {@code append} by any thread, without waiting while memory is at hand; the methods below
 * "I/O thread" by the I/O thread only.
 * <p><b>Ordering:</b> a batch is linked by compare-and-set on its predecessor's {@code next} after it holds its first
 * record. {@code newest} is only a hint where to start looking; it may lag behind, never run ahead.
 */
public final class PartitionQueue {
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
        this.sizing = new BatchSizing(accumulator.batchSize());
        this.taken = OpenBatch.start();
        this.newest = taken;
        this.use = accumulator.useOf(this::hasRecords);
    }

    /** Announces an {@link #append} that will hardly fail to follow, and is quicker for it; costs next to nothing. */
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
        // A batch that takes the record has no successor; to look for one would be to read one more word that others
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

    /** Null when another thread's batch came first. */
    private RecordFuture open(OpenBatch last, EncodableRecord record, Callback callback, long maxBlockMs)
            throws InterruptedException {
        byte[] buffer = accumulator.acquire(sizing, record, maxBlockMs, () -> last.next() == null);
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
                accumulator.release(buffer, buffer.length);
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

    /** Hands the partition over to its I/O thread once more. */
    public void lookAgain() {
        accumulator.onFinished(this);
    }

    void onFinished() {
        accumulator.onFinished(this);
    }

    AppendCounters counters() {
        return accumulator.counters();
    }

    BatchCodec codec() {
        return accumulator.codec();
    }

    int batchSize() {
        return accumulator.batchSize();
    }

    BatchSizing sizing() {
        return sizing;
    }

    byte[] trim(byte[] buffer, int used) {
        return accumulator.trim(buffer, used);
    }

    void release(byte[] buffer, int reserved) {
        accumulator.release(buffer, reserved);
    }

    public TopicPartition partition() {
        return partition;
    }

    /** Dense: 0, 1, 2, … in the order in which partitions were first used. */
    public int id() {
        return id;
    }

    /** The hand-over to the I/O thread that this partition belongs to. */
    ReadyQueue ready() {
        return ready;
    }

    /** The result of the newest batch, where {@code flush} starts; null if there never was one. */
    BatchResult newestResult() {
        return newest().result();
    }

    /** How many batches wait here, the open one included; a number that may be old already. */
    int backlog() {
        return Math.max(0, numberOf(newest()) - numberOf(taken)); // taken may be newer than the newest that was seen
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

    /** Takes away what {@link #peek} returned. */
    public void take() {
        taken = taken.next();
        taken.forget();
        use.update();
    }

    /** Whether records wait here, finished or not. Any thread may ask. */
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

    /** Seals the oldest batch; whoever makes the last commit to it offers it to the ready queue. */
    public void sealOldest(SealCause cause) {
        seal(taken.next(), cause);
    }

    private void seal(OpenBatch batch, SealCause cause) {
        if (batch.seal()) {
            counters().sealed(cause);
        }
    }

    /** Lets no further record in, ever. What is already there stays. */
    void close() {
        OpenBatch last = newest();
        while (!last.isEnd()) {
            seal(last, SealCause.CLOSE);
            last.casNext(OpenBatch.end(last));
            last = newest();
        }
    }
}
