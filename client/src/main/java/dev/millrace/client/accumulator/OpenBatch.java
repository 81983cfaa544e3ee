package dev.millrace.client.accumulator;

import dev.millrace.client.raw.BatchLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.apache.kafka.clients.producer.Callback;

/**
 * A batch of one partition while records are still written to it. Many threads claim room by one compare-and-set and
 * write side by side; no thread waits for another.
 *
 * <p><b>Threads:</b> any application thread claims, writes and commits. The thread that finds the batch full seals it,
 * or the I/O thread when it has lingered long enough. The thread that makes the last commit of a sealed batch finishes
 * it.
 * <p><b>Ordering:</b> a writer adds to {@code committed} (full fence) after its bytes, its callback and its
 * timestamp; a thread that then reads {@code committed == claimed} of a sealed tail sees all of them. Sealer and last
 * committer each do their own write before they read the other's word, so that at least one of them sees both;
 * {@code finishing} lets only one of them continue. {@code finished} publishes the batch to the I/O thread.
 * {@code next} is set once, by compare-and-set, after the batch is sealed.
 * <p><b>Bounds:</b> at most 2^23 - 1 records and 2^31 - 1 bytes, the widths of {@link BatchTail}.
 */
final class OpenBatch {
    private static final long NO_ROOM = -1;
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
    private final long lingerUntilMs;
    private final long baseTimestamp;

    /** The I/O thread clears these three when it takes the batch; no writer reads them after that. */
    private byte[] buffer;

    private BatchCallbacks callbacks;
    private FinishedBatch whenFinished;

    /** Set by a writer that could not write its claimed record; all records of the batch then fail. */
    private volatile Throwable writeFailure;

    private volatile long tail = BatchTail.of(0, BatchLayout.HEADER_SIZE);
    private volatile int committed;
    private volatile long maxTimestamp;
    private volatile int maxRecordSize;

    /**
     * In most batches this field shares the tail's cache line; threads write it plainly and never read it. See {@link
     * #prefetch}.
     */
    @SuppressWarnings("UnusedVariable")
    private int prefetched;

    private volatile boolean full;
    private volatile boolean finishing;
    private volatile FinishedBatch finished;
    private volatile OpenBatch next;

    /**
     * Creates an empty batch.
     *
     * @param previous the result of the partition's previous batch, or null
     * @param buffer at least as long as the batch may become
     * @param capacity most bytes that the batch may have, including its header
     * @param createdMs on the monotonic clock; the delivery timeout counts from it
     * @param lingerUntilMs when it is sent if it is not full earlier, on the monotonic clock
     * @param baseTimestamp timestamp of the first record; other timestamps are written as deltas to it
     */
    OpenBatch(
            PartitionQueue queue,
            BatchResult previous,
            byte[] buffer,
            int capacity,
            long createdMs,
            long lingerUntilMs,
            long baseTimestamp) {
        this.queue = queue;
        this.result = new BatchResult(queue.partition(), previous);
        this.end = false;
        this.capacity = capacity;
        this.buffer = buffer;
        this.createdMs = createdMs;
        this.lingerUntilMs = lingerUntilMs;
        this.baseTimestamp = baseTimestamp;
        this.maxTimestamp = baseTimestamp;
        this.callbacks = new BatchCallbacks();
        this.whenFinished = new FinishedBatch(queue, result, callbacks, buffer, createdMs);
    }

    private OpenBatch(BatchResult result, boolean end) {
        this.queue = null;
        this.result = result;
        this.end = end;
        this.capacity = 0;
        this.createdMs = 0;
        this.lingerUntilMs = 0;
        this.baseTimestamp = 0;
        this.tail = BatchTail.seal(BatchTail.of(0, 0));
    }

    /** Creates a batch that was made elsewhere: sealed and finished from the start. */
    OpenBatch(PartitionQueue queue, BatchResult previous, PassedBatch passed) {
        this.queue = queue;
        this.result = new BatchResult(queue.partition(), previous);
        this.end = false;
        this.capacity = 0;
        this.createdMs = passed.passedMs();
        this.lingerUntilMs = Long.MAX_VALUE; // sealed from the start, so nobody waits for this
        this.baseTimestamp = 0;
        this.tail = BatchTail.seal(BatchTail.of(0, BatchLayout.HEADER_SIZE));
        this.finished = new FinishedBatch(queue, result, passed);
    }

    /** Returns a marker before the first batch of a queue: sealed and without records. */
    static OpenBatch startMarker() {
        return new OpenBatch(null, false);
    }

    /** Returns a marker after the last batch of a closed queue. It has no successor and accepts no records. */
    static OpenBatch endMarker(OpenBatch last) {
        return new OpenBatch(last.result, true);
    }

    /**
     * Fetches the tail's cache line for writing while the caller does something else. Another core may have written it
     * last. A plain store does not wait for the line, and the claim then finds it in this core's cache.
     */
    void prefetch() {
        prefetched = 1;
    }

    /**
     * Claims room for the record, writes and commits it.
     *
     * @return null if the batch is sealed or the record does not fit; in both cases it is sealed afterwards
     */
    RecordFuture tryAppend(EncodableRecord record, Callback callback) {
        long timestampDelta = record.timestamp() - baseTimestamp;
        // As in claim(), but the record is looked at after the tail is read, while the tail's cache line arrives.
        for (int lost = 0; ; lost++) {
            long seen = tail;
            if (BatchTail.isSealed(seen)) {
                return null;
            }
            int index = BatchTail.count(seen);
            int position = BatchTail.position(seen);
            long bodySize = RecordEncoder.bodySize(index, timestampDelta, record);
            long claimEnd = position + Varint.sizeOf(bodySize) + bodySize;
            if (claimEnd > capacity || index == BatchTail.MAX_RECORDS) {
                sealFull();
                return null;
            }
            if (TAIL.compareAndSet(this, seen, BatchTail.of(index + 1, (int) claimEnd))) {
                if (lost > 0) {
                    queue.counters().countLostClaims(lost);
                }
                return write(index, position, (int) bodySize, timestampDelta, record, callback);
            }
        }
    }

    /**
     * Does the same as {@link #tryAppend(EncodableRecord, Callback)} for a record whose key, value and headers are
     * encoded in {@code source}. Keeps nothing for the record.
     */
    BatchResult tryAppend(long timestamp, byte[] source, int offset, int length) {
        long timestampDelta = timestamp - baseTimestamp;
        long size = RecordEncoder.sizeWithoutOffsetDelta(timestampDelta, length);
        long claimed = claim(size);
        if (claimed == NO_ROOM) {
            return null;
        }
        int index = BatchTail.count(claimed);
        try {
            int at = RecordEncoder.writeStart(
                    buffer, BatchTail.position(claimed), Varint.sizeOf(index) + (int) size, index, timestampDelta);
            System.arraycopy(source, offset, buffer, at, length);
            raiseMaxTimestamp(timestamp);
            raiseMaxRecordSize(RecordEncoder.batchSizeUpperBound(length));
        } catch (Throwable t) { // as in write()
            writeFailure = t;
            throw t;
        } finally {
            commit();
        }
        return result;
    }

    /**
     * Claims room for a record, or seals the batch.
     *
     * @param size of the record without its length and its offset delta, which depends on its place
     * @return the tail before the record, which tells its index and position; {@link #NO_ROOM} if the batch is sealed
     */
    long claim(long size) {
        for (int lost = 0; ; lost++) {
            long seen = tail;
            if (BatchTail.isSealed(seen)) {
                return NO_ROOM;
            }
            int index = BatchTail.count(seen);
            int position = BatchTail.position(seen);
            long bodySize = Varint.sizeOf(index) + size;
            long claimEnd = position + Varint.sizeOf(bodySize) + bodySize;
            if (claimEnd > capacity || index == BatchTail.MAX_RECORDS) {
                sealFull();
                return NO_ROOM;
            }
            if (TAIL.compareAndSet(this, seen, BatchTail.of(index + 1, (int) claimEnd))) {
                if (lost > 0) {
                    queue.counters().countLostClaims(lost);
                }
                return seen;
            }
        }
    }

    private void sealFull() {
        full = true;
        queue.sizing().onFull(capacity);
        if (seal()) {
            queue.counters().countSealed(SealCause.FULL);
        }
    }

    private RecordFuture write(
            int index, int position, int bodySize, long timestampDelta, EncodableRecord record, Callback callback) {
        RecordFuture future = null;
        try {
            future = new RecordFuture(result, index, record);
            if (callback != null) {
                callbacks.add(index, record, callback);
            }
            RecordEncoder.write(buffer, position, bodySize, index, timestampDelta, record);
            raiseMaxTimestamp(record.timestamp());
            raiseMaxRecordSize(RecordEncoder.batchSizeUpperBound(record));
        } catch (Throwable t) { // even an OutOfMemoryError must not leave a claim without a commit
            writeFailure = t;
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
     * Accepts no further records. The batch finishes as soon as the records already claimed are committed.
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
                    queue.counters().countSealedWhileWritten();
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
        } catch (Throwable t) { // for example an Error of a codec without its native library: only this batch fails
            whenFinished.markUnwritable(count, t);
            queue.onUnwritable(t);
        }
        finished = whenFinished;
        queue.handOver();
    }

    private void finish(int count, int end) throws Throwable {
        if (writeFailure != null) {
            throw writeFailure;
        }
        whenFinished.encode(queue.codec(), end, count, baseTimestamp, maxTimestamp);
        whenFinished.setMaxRecordSize(maxRecordSize);
        whenFinished.trim();
        queue.sizing().onFinished(end, whenFinished.size(), full);
    }

    /**
     * Ends the wait for a writer that does not finish the batch: all of its records fail. Allowed only for a sealed
     * batch, and only when no batch is opened any more: the writer may continue and write into the buffer, which must
     * then not belong to another batch.
     */
    void giveUp(Throwable cause) {
        if (finished == null) {
            finishing = true; // a writer that continues finishes nothing
            whenFinished.markUnwritable(BatchTail.count(tail), cause);
            finished = whenFinished;
        }
    }

    /** Returns the finished batch; null until it is finished. */
    FinishedBatch finished() {
        return finished;
    }

    /** Returns the bytes claimed so far, without the header. */
    int recordBytes() {
        return BatchTail.position(tail) - BatchLayout.HEADER_SIZE;
    }

    boolean isSealed() {
        return BatchTail.isSealed(tail);
    }

    /** Returns the successor; null while this is the newest batch of its partition. */
    OpenBatch next() {
        return next;
    }

    /** Links the successor. Allowed only after this batch is sealed, so that no record overtakes another. */
    boolean casNext(OpenBatch successor) {
        return NEXT.compareAndSet(this, null, successor);
    }

    /** The I/O thread has taken the batch, so its memory must not stay reachable until it is unlinked. */
    void dropReferences() {
        buffer = null;
        callbacks = null;
        whenFinished = null;
        finished = null;
    }

    /** Whether this is the end marker of a closed queue. */
    boolean isEnd() {
        return end;
    }

    /** Whether this is a start or end marker, not a batch. */
    boolean isMarker() {
        return queue == null;
    }

    /** Returns the result: null for a start marker, the last batch's for an end marker. */
    BatchResult result() {
        return result;
    }

    long createdMs() {
        return createdMs;
    }

    long lingerUntilMs() {
        return lingerUntilMs;
    }
}
