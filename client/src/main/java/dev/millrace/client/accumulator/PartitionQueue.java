package dev.millrace.client.accumulator;

import dev.millrace.client.memory.BufferPool;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.common.TopicPartition;

/**
 * The batches of one partition in the order in which they were opened: a linked list whose last element is the open
 * batch and from whose front the I/O thread takes batches.
 *
 * <p><b>Threads:</b> {@code append} and {@code pass} by any thread, which waits only while there is no memory; the methods below
 * "I/O thread" by the I/O thread only.
 * <p><b>Ordering:</b> a batch that holds its first record is linked by compare-and-set on {@code next} of its
 * predecessor, which is sealed by then. {@code newest} is a hint where to start looking: it may be an older batch, but
 * never one that is not linked.
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

    /** Written before the batch to which it applies is opened. */
    private volatile SequenceStart sequenceStart;

    /** Read once for each batch that is finished. */
    private volatile BatchCodec codec;

    private final AtomicReference<Withdrawal> withdrawal = new AtomicReference<>();

    PartitionQueue(Accumulator accumulator, TopicPartition partition, int id) {
        this.accumulator = accumulator;
        this.partition = partition;
        this.id = id;
        this.ready = accumulator.readyOf(id);
        this.codec = accumulator.codec();
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
        return future != null ? future : appendToNewest(new RecordWithCallback(record, callback), maxBlockMs);
    }

    /**
     * Does the same for a record whose key, value and headers are encoded in {@code source}.
     *
     * @return the result of the record's batch; null when the queue is closed
     */
    public BatchResult append(long timestamp, byte[] source, int offset, int length, long maxBlockMs)
            throws InterruptedException {
        BatchResult result = newest.tryAppend(timestamp, source, offset, length);
        return result != null
                ? result
                : appendToNewest(new EncodedRecord(timestamp, source, offset, length), maxBlockMs);
    }

    /** The record to append. It is created only for a record that finds its batch full. */
    private interface Addition<R> {
        /** Returns null if the batch is sealed. */
        R tryAppendTo(OpenBatch batch);

        int batchSizeUpperBound();

        long timestamp();
    }

    private record RecordWithCallback(EncodableRecord record, Callback callback) implements Addition<RecordFuture> {
        @Override
        public RecordFuture tryAppendTo(OpenBatch batch) {
            return batch.tryAppend(record, callback);
        }

        @Override
        public int batchSizeUpperBound() {
            return RecordEncoder.batchSizeUpperBound(record);
        }

        @Override
        public long timestamp() {
            return record.timestamp();
        }
    }

    private record EncodedRecord(long timestamp, byte[] source, int offset, int length)
            implements Addition<BatchResult> {
        @Override
        public BatchResult tryAppendTo(OpenBatch batch) {
            return batch.tryAppend(timestamp, source, offset, length);
        }

        @Override
        public int batchSizeUpperBound() {
            return RecordEncoder.batchSizeUpperBound(length);
        }
    }

    private <R> R appendToNewest(Addition<R> record, long maxBlockMs) throws InterruptedException {
        OpenBatch last = newest();
        R appended = record.tryAppendTo(last);
        long startNs = System.nanoTime();
        while (appended == null && !last.isEnd()) {
            long waitedMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
            appended = open(last, record, Math.max(0, maxBlockMs - waitedMs));
            if (appended == null) {
                last = newest();
                appended = record.tryAppendTo(last);
            }
        }
        return appended;
    }

    /** Returns null if another thread linked its batch first. */
    private <R> R open(OpenBatch full, Addition<R> record, long maxBlockMs) throws InterruptedException {
        int size = pool().sizeFor(sizing.usual(), sizing.most(), record.batchSizeUpperBound());
        byte[] buffer = pool().acquire(size, maxBlockMs, () -> needsOpenBatch(full));
        if (buffer == null) {
            return null;
        }
        OpenBatch last = newest();
        OpenBatch fresh = null;
        R appended = null;
        boolean linked = false;
        try {
            if (acceptsNext(last)) {
                // A record larger than batch.size stays alone, even in a buffer made for a larger one.
                int capacity = Math.max(size, Math.min(buffer.length, pool().batchSize()));
                fresh = new OpenBatch(
                        this,
                        last.result(),
                        buffer,
                        capacity,
                        accumulator.nowMs(),
                        accumulator.lingerUntilMs(),
                        record.timestamp());
                appended = record.tryAppendTo(fresh);
                linked = last.casNext(fresh);
            }
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
        accumulator.onOpened(this, fresh.lingerUntilMs());
        return appended;
    }

    /**
     * Whether an open batch is needed: not while the newest batch is open. A batch passed in the meantime takes no
     * records, so one is still needed. All waiting threads call this, so it avoids reading words of an open batch,
     * which others write.
     */
    private boolean needsOpenBatch(OpenBatch full) {
        return full.next() == null || acceptsNext(newest());
    }

    private static boolean acceptsNext(OpenBatch last) {
        return last.isSealed() && !last.isEnd();
    }

    /**
     * Returns a batch of this record alone, compressed like all batches here, to be {@link #pass passed}. It shows how
     * large the record is on the wire, and then takes no more memory of the pool than that.
     */
    public ByteBuffer compressAlone(long timestamp, byte[] source, int offset, int length) {
        return PassedBatch.ofRecord(codec(), timestamp, source, offset, length);
    }

    /**
     * Appends a copy of a whole batch that was made elsewhere, and seals the open batch before it.
     *
     * @param batch between position and limit, which are not changed
     * @param codecs by their numbers in the attributes of a batch
     * @param maxBlockMs how long to wait for memory, milliseconds
     * @return null when the queue is closed
     * @throws IllegalArgumentException the batch cannot be passed on unchanged
     * @throws org.apache.kafka.clients.producer.BufferExhaustedException no memory within that time
     * @throws InterruptedException interrupted while waiting for memory
     */
    public BatchResult pass(ByteBuffer batch, List<? extends BatchCodec> codecs, long maxBlockMs)
            throws InterruptedException {
        byte[] buffer = pool().acquire(batch.remaining(), maxBlockMs, () -> !newest().isEnd());
        if (buffer == null) {
            return null;
        }
        OpenBatch linked = null;
        try {
            linked = linkOrNull(PassedBatch.copy(batch, buffer, codecs, accumulator.nowMs()));
        } finally {
            if (linked == null) {
                pool().release(buffer);
            }
        }
        if (linked == null) {
            return null;
        }
        use.update();
        handOver();
        return linked.result();
    }

    /** Seals the last batch first, as after a full batch, or a later record could still go into it. May return null. */
    private OpenBatch linkOrNull(PassedBatch passed) {
        for (OpenBatch last = newest(); !last.isEnd(); last = newest()) {
            seal(last, SealCause.PASSED);
            OpenBatch fresh = new OpenBatch(this, last.result(), passed);
            if (last.casNext(fresh)) {
                NEWEST.compareAndSet(this, last, fresh);
                return fresh;
            }
        }
        return null;
    }

    /**
     * Sets producer id, epoch and sequence of the next batch; later batches follow on. Call it while every batch so far
     * has its outcome, and in the thread that writes the next one.
     *
     * @throws IllegalStateException batches wait here
     */
    public void sequenceFrom(SequenceStart start) {
        if (hasRecords()) {
            throw new IllegalStateException(
                    "Records of " + partition + " wait to be sent; their sequences cannot be set to " + start);
        }
        sequenceStart = start;
    }

    /**
     * Makes the I/O thread fail the batches here and not resend those in flight. Call it while no thread appends.
     *
     * @return completes when nothing is in flight
     */
    public CompletableFuture<Void> withdraw(RuntimeException cause) {
        Withdrawal wanted = withdrawal.updateAndGet(
                known -> known != null ? known : new Withdrawal(cause, new CompletableFuture<>()));
        handOver();
        return wanted.done();
    }

    OpenBatch newest() {
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

    void onUnwritable(Throwable cause) {
        accumulator.onUnwritable(partition(), cause);
    }

    AppendCounters counters() {
        return accumulator.counters();
    }

    /** Whether all batches after a failed one fail, until {@link #withdraw}, though their sequences are not given. */
    public boolean stopsAtFailures() {
        return accumulator.stopsAtFailures();
    }

    /** Sets the codec of the batches finished from now on; passed batches keep theirs. */
    public void setCodec(BatchCodec next) {
        codec = next;
    }

    BatchCodec codec() {
        return codec;
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

    /** Returns the partition's number: 0, 1, 2, … in the order in which partitions were first used. */
    public int id() {
        return id;
    }

    /** Returns the ready queue of the I/O thread that owns this partition. */
    ReadyQueue ready() {
        return ready;
    }

    /** Returns the result of the newest batch, where {@code flush} starts; null before the first batch. */
    BatchResult newestResult() {
        return newest().result();
    }

    /** Returns how many batches wait here, including the open one; may be out of date when it returns. */
    int backlog() {
        return Math.max(0, numberOf(newest()) - numberOf(taken)); // taken may be newer than newest() was
    }

    private static int numberOf(OpenBatch batch) {
        return batch.result() == null ? 0 : batch.result().number();
    }

    // ---- I/O thread ----

    /** Returns what {@link #sequenceFrom} set last, or null. */
    public SequenceStart sequenceStart() {
        return sequenceStart;
    }

    /** Returns what {@link #withdraw} has asked for since the last call, or null. */
    public Withdrawal takeWithdrawal() {
        return withdrawal.get() == null ? null : withdrawal.getAndSet(null);
    }

    /** Returns the oldest batch if it is finished, else null. */
    public FinishedBatch peek() {
        OpenBatch first = taken.next();
        return first == null ? null : first.finished();
    }

    /**
     * Finishes each batch that a writer has left unfinished, so that it fails. Allowed only when the queue is closed.
     */
    public void giveUpUnfinished(Throwable cause) {
        for (OpenBatch batch = taken.next(); batch != null && !batch.isMarker(); batch = batch.next()) {
            batch.giveUp(cause);
        }
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

    /** Returns when the oldest batch was opened, on the monotonic clock; only while {@link #hasRecords}. */
    public long oldestCreatedMs() {
        return taken.next().createdMs();
    }

    /**
     * Returns when the oldest batch is sent even if not full, on the monotonic clock; only while {@link #hasRecords}.
     */
    public long oldestLingerUntilMs() {
        return taken.next().lingerUntilMs();
    }

    /** Whether the oldest batch still takes records; only while {@link #hasRecords}. */
    public boolean isOldestOpen() {
        return !taken.next().isSealed();
    }

    /**
     * Whether the oldest batch is expected to have a quarter of {@code batch.size} when it has waited for {@code
     * linger.ms}, so that sending it earlier would make many small batches instead of a few large ones.
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

    /** Accepts no further records. Batches already here remain. */
    void close() {
        OpenBatch last = newest();
        while (!last.isEnd()) {
            seal(last, SealCause.CLOSE);
            last.casNext(OpenBatch.endMarker(last));
            last = newest();
        }
    }
}
