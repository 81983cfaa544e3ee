package dev.millrace.client.accumulator;

import dev.millrace.client.raw.BatchLayout;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One partition of {@link OneLockAccumulator}.
 *
 * <p><b>Threads:</b> {@code append} by any thread; {@code take} by the I/O thread.
 * <p><b>Ordering:</b> the lock orders everything in an open batch; {@code Batch.ready} publishes a finished one.
 */
final class OneLockQueue {
    /** More than enough for the records that benchmarks send. */
    private static final int STAGE_SIZE = 64 << 10;

    private static final ThreadLocal<byte[]> STAGE = ThreadLocal.withInitial(() -> new byte[STAGE_SIZE]);

    private final OneLockAccumulator accumulator;
    private final PartitionQueue handle;
    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Batch> batches = new ArrayDeque<>();
    private Batch open;

    /** @param handle the partition queue that the ready queue carries for this one */
    OneLockQueue(OneLockAccumulator accumulator, PartitionQueue handle) {
        this.accumulator = accumulator;
        this.handle = handle;
    }

    RecordFuture append(EncodableRecord record, long maxBlockMs) throws InterruptedException {
        byte[] stage = STAGE.get();
        int to = RecordEncoder.write(stage, 0, 0, 0, record);
        int from =
                Varint.sizeOf(RecordEncoder.bodySize(0, 0, record)) + 3; // key, value, headers: the same at any index
        Batch fresh = null;
        while (true) {
            Batch full = null;
            Batch target;
            int index;
            boolean opened = false;
            lock.lock();
            try {
                target = open;
                index = target == null ? -1 : target.put(record.timestamp(), stage, from, to);
                if (index < 0 && fresh != null) {
                    full = open;
                    target = fresh;
                    index = target.put(record.timestamp(), stage, from, to);
                    batches.add(target);
                    open = target;
                    opened = true;
                }
            } finally {
                lock.unlock();
            }
            if (full != null) {
                full.finish();
                accumulator.onFinished(handle);
            }
            if (opened) {
                accumulator.onOpened(handle, target.createdMs);
            } else if (index >= 0 && fresh != null) {
                accumulator.release(fresh.buffer); // another thread's batch came first
            }
            if (index >= 0) {
                return new RecordFuture(target.result, index, record);
            }
            fresh = new Batch(accumulator.acquire(record, maxBlockMs), record.timestamp());
        }
    }

    FinishedBatch take() {
        lock.lock();
        try {
            Batch first = batches.peekFirst();
            if (first == null || !first.ready) {
                return null;
            }
            return batches.removeFirst().finished;
        } finally {
            lock.unlock();
        }
    }

    private final class Batch {
        private final byte[] buffer;
        private final long createdMs = accumulator.nowMs();
        private final long baseTimestamp;
        private final BatchResult result = new BatchResult(handle.partition(), null);
        private final FinishedBatch finished;
        private long maxTimestamp;
        private int position = BatchLayout.HEADER_SIZE;
        private int count;
        private volatile boolean ready;

        Batch(byte[] buffer, long baseTimestamp) {
            this.buffer = buffer;
            this.baseTimestamp = baseTimestamp;
            this.maxTimestamp = baseTimestamp;
            this.finished = new FinishedBatch(handle, result, new BatchCallbacks(), buffer, createdMs);
        }

        /** Writes a record, under the lock; returns its index, or -1 if it does not fit. */
        int put(long timestamp, byte[] stage, int from, int to) {
            long timestampDelta = timestamp - baseTimestamp;
            int bodySize = 1 + Varint.sizeOf(timestampDelta) + Varint.sizeOf(count) + to - from;
            if (position + Varint.sizeOf(bodySize) + bodySize > buffer.length) {
                return -1;
            }
            int at = Varint.write(buffer, position, bodySize);
            buffer[at++] = 0;
            at = Varint.write(buffer, at, timestampDelta);
            at = Varint.write(buffer, at, count);
            System.arraycopy(stage, from, buffer, at, to - from);
            position = at + to - from;
            maxTimestamp = Math.max(maxTimestamp, timestamp);
            return count++;
        }

        /** Called outside the lock by the thread that closed the batch. */
        void finish() {
            finished.encode(BatchCodec.NONE, position, count, baseTimestamp, maxTimestamp);
            ready = true;
        }
    }
}
