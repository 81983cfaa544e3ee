package dev.millrace.client.accumulator;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.apache.kafka.clients.producer.Callback;

/**
 * A batch of one partition while records are still written to it. Many threads claim room by one compare-and-set and
 * write side by side; nobody waits for anybody.
 *
 * <p><b>Threads:</b> any application thread claims, writes and commits; whoever finds it full seals it, the I/O thread
 * when it has lingered long enough; whoever makes the last commit of a sealed batch finishes it.
 * <p><b>Ordering:</b> a writer adds to {@code committed} (full fence) after its bytes, its callback slot and its
 * timestamp; whoever then reads {@code committed == claimed} of a sealed tail sees all of them. Sealer and last committer
 * each do their own write before they read the other's word, so that at least one of them sees both; {@code finishing}
 * lets only one of them go on. {@code finished} publishes the batch to the I/O thread; {@code next} is set once, by compare-and-set, and never before the batch is sealed.
 * <p><b>Bounds:</b> at most 2^23 - 1 records and 2^31 - 1 bytes, the widths of {@link BatchTail}.
 */
final class OpenBatch {
    /** The shortest record: length, attributes, two deltas, no key, no value, no headers. */
    private static final int MIN_RECORD_SIZE = 7;

    private static final VarHandle TAIL;
    private static final VarHandle COMMITTED;
    private static final VarHandle FINISHING;
    private static final VarHandle NEXT;
    private static final VarHandle MAX_TIMESTAMP;
    private static final VarHandle MAX_RECORD_SIZE;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            TAIL = lookup.findVarHandle(OpenBatch.class, "tail", long.class);
            COMMITTED = lookup.findVarHandle(OpenBatch.class, "committed", int.class);
            FINISHING = lookup.findVarHandle(OpenBatch.class, "finishing", boolean.class);
            NEXT = lookup.findVarHandle(OpenBatch.class, "next", OpenBatch.class);
            MAX_TIMESTAMP = lookup.findVarHandle(OpenBatch.class, "maxTimestamp", long.class);
            MAX_RECORD_SIZE = lookup.findVarHandle(OpenBatch.class, "maxRecordSize", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final PartitionQueue queue;
    private final BatchResult result;
    private final boolean end;
    private final int capacity;
    private final long createdMs;
    private final long baseTimestamp;

    /** These three are dropped by the I/O thread when it takes the batch, after which no writer looks at them. */
    private byte[] buffer;

    private CallbackSlots callbacks;
    private FinishedBatch whenFinished;

    /** Set by a writer that could not write what it had claimed; the batch then fails whole. */
    private volatile Throwable poison;

    private volatile long tail = BatchTail.of(0, BatchHeader.SIZE);
    private volatile int committed;
    private volatile long maxTimestamp;
    private volatile int maxRecordSize;

    /** In the tail's cache line, in most batches; all write it, plainly, and nobody reads it. See {@link #prefetch}. */
    @SuppressWarnings("UnusedVariable")
    private int prefetched;

    private volatile boolean full;
    private volatile boolean finishing;
    private volatile FinishedBatch finished;
    private volatile OpenBatch next;

    /**
     * A batch without records yet.
     *
     * @param previous the result of the batch before, or null
     * @param buffer as long as the batch may become, header included
     * @param createdMs on the monotonic clock; linger and delivery timeout count from it
     * @param baseTimestamp the first record's; the others are written as deltas to it
     */
    OpenBatch(PartitionQueue queue, BatchResult previous, byte[] buffer, long createdMs, long baseTimestamp) {
        this.queue = queue;
        this.result = new BatchResult(queue.partition(), previous);
        this.end = false;
        this.capacity = buffer.length;
        this.buffer = buffer;
        this.createdMs = createdMs;
        this.baseTimestamp = baseTimestamp;
        this.maxTimestamp = baseTimestamp;
        this.callbacks = new CallbackSlots(Math.min(buffer.length / MIN_RECORD_SIZE, BatchTail.MAX_RECORDS));
        this.whenFinished = new FinishedBatch(queue, result, callbacks, buffer, createdMs);
    }

    private OpenBatch(BatchResult result, boolean end) {
        this.queue = null;
        this.result = result;
        this.end = end;
        this.capacity = 0;
        this.createdMs = 0;
        this.baseTimestamp = 0;
        this.tail = BatchTail.seal(BatchTail.of(0, 0));
    }

    /** What stands before the first batch of a queue: sealed, and without records. */
    static OpenBatch start() {
        return new OpenBatch(null, false);
    }

    /** What stands behind the last batch of a closed queue. It has no successor and takes no records. */
    static OpenBatch end(OpenBatch last) {
        return new OpenBatch(last.result, true);
    }

    /**
     * Has the tail's cache line, which another core may have written last, fetched for writing while the caller does
     * something else: a plain store waits for nothing, and the claim then finds the line here.
     */
    void prefetch() {
        prefetched = 1;
    }

    /**
     * Claims room for the record, writes and commits it.
     *
     * @return null when the batch is sealed or the record does not fit; it is sealed then
     */
    RecordFuture tryAppend(EncodableRecord record, Callback callback) {
        long timestampDelta = record.timestamp() - baseTimestamp;
        for (int lost = 0; ; lost++) {
            long seen = tail;
            if (BatchTail.isSealed(seen)) {
                return null;
            }
            int index = BatchTail.count(seen);
            int position = BatchTail.position(seen);
            int bodySize = RecordEncoder.bodySize(index, timestampDelta, record);
            long claimEnd = (long) position + Varint.sizeOf(bodySize) + bodySize;
            if (claimEnd > capacity || index == BatchTail.MAX_RECORDS) {
                full = true;
                queue.sizing().onFull(capacity);
                if (seal()) {
                    queue.counters().sealed(SealCause.FULL);
                }
                return null;
            }
            if (TAIL.compareAndSet(this, seen, BatchTail.of(index + 1, (int) claimEnd))) {
                if (lost > 0) {
                    queue.counters().claimsLost(lost);
                }
                return write(index, position, bodySize, timestampDelta, record, callback);
            }
        }
    }

    private RecordFuture write(
            int index, int position, int bodySize, long timestampDelta, EncodableRecord record, Callback callback) {
        RecordFuture future = null;
        try {
            future = RecordFuture.of(result, index, record, callback);
            if (future instanceof RecordFuture.WithCallback withCallback) {
                callbacks.put(index, withCallback);
            }
            RecordEncoder.write(buffer, position, bodySize, index, timestampDelta, record);
            raiseMaxTimestamp(record.timestamp());
            raiseMaxRecordSize(RecordEncoder.batchSizeUpperBound(record));
        } catch (Throwable t) { // even an OutOfMemoryError must not leave a hole that nobody will ever commit
            poison = t;
            throw t;
        } finally {
            commit();
        }
        return future;
    }

    private void raiseMaxTimestamp(long timestamp) {
        long seen = maxTimestamp;
        while (timestamp > seen && !MAX_TIMESTAMP.compareAndSet(this, seen, timestamp)) {
            seen = maxTimestamp;
        }
    }

    private void raiseMaxRecordSize(int size) {
        int seen = maxRecordSize;
        while (size > seen && !MAX_RECORD_SIZE.compareAndSet(this, seen, size)) {
            seen = maxRecordSize;
        }
    }

    private void commit() {
        int commits = (int) COMMITTED.getAndAdd(this, 1) + 1;
        long seen = tail;
        if (BatchTail.isSealed(seen) && commits == BatchTail.count(seen)) {
            finish(seen);
        }
    }

    /**
     * Lets no further record in. The batch finishes as soon as the records already claimed are committed.
     *
     * @return false if it was sealed already
     */
    boolean seal() {
        long seen = tail;
        while (!BatchTail.isSealed(seen)) {
            long sealed = BatchTail.seal(seen);
            if (TAIL.compareAndSet(this, seen, sealed)) {
                if (committed == BatchTail.count(sealed)) {
                    finish(sealed);
                } else {
                    queue.counters().waitedOn();
                }
                return true;
            }
            seen = tail;
        }
        return false;
    }

    private void finish(long sealed) {
        if (finishing || !FINISHING.compareAndSet(this, false, true)) {
            return;
        }
        int count = BatchTail.count(sealed);
        try {
            finish(count, BatchTail.position(sealed));
        } catch (Throwable t) { // a codec's native library may be missing: an Error, and still only this batch's
            whenFinished.fail(count, t);
        }
        finished = whenFinished;
        queue.onFinished();
    }

    private void finish(int count, int end) throws Throwable {
        if (poison != null) {
            throw poison;
        }
        whenFinished.encode(queue.codec(), end, count, baseTimestamp, maxTimestamp);
        whenFinished.measure(maxRecordSize);
        whenFinished.trim();
        queue.sizing().onFinished(end, whenFinished.size(), full);
    }

    /** Null until the batch is finished. */
    FinishedBatch finished() {
        return finished;
    }

    boolean isSealed() {
        return BatchTail.isSealed(tail);
    }

    /** Null while this is the newest batch of its partition. */
    OpenBatch next() {
        return next;
    }

    /** Hangs the successor on; only ever after this batch is sealed, so that no record can overtake another. */
    boolean casNext(OpenBatch successor) {
        return NEXT.compareAndSet(this, null, successor);
    }

    /** The I/O thread has taken the batch: what it holds must not stay reachable while it waits to be unlinked. */
    void forget() {
        buffer = null;
        callbacks = null;
        whenFinished = null;
        finished = null;
    }

    /** Whether the queue is closed behind this. */
    boolean isEnd() {
        return end;
    }

    /** Whether this is a start or an end, not a batch. */
    boolean isMarker() {
        return queue == null;
    }

    /** Null for the start of a queue; for its end, the last batch's. */
    BatchResult result() {
        return result;
    }

    long createdMs() {
        return createdMs;
    }
}
