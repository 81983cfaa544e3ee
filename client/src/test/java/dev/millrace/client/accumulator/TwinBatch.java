package dev.millrace.client.accumulator;

import dev.millrace.client.raw.BatchLayout;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.Callback;

/**
 * A copy of {@link OpenBatch} with one step left out, to show that {@link OpenBatchStressTest} would notice. Where
 * the window is a few instructions wide, a short spin holds it open.
 */
final class TwinBatch implements OpenBatchStressTest.Subject {
    /** What is left out; null for nothing. */
    enum Weakness {
        /** Two writers that saw the same tail both take its room. */
        CLAIM_WITHOUT_COMPARE,
        /** A seal between a writer's read and its claim is undone. */
        CLAIM_OVERWRITES_SEAL,
        /** Sealer and last committer each read the other's word before their own write, and neither finishes. */
        LOOK_BEFORE_WRITE,
        /** Sealer and last committer both finish. */
        FINISH_UNGUARDED,
        /** The sealer finishes, although a writer may still be writing. */
        FINISH_WITHOUT_COMMITS
    }

    private final Weakness weakness;
    private final byte[] buffer;
    private final AtomicLong tail = new AtomicLong(BatchTail.of(0, BatchLayout.HEADER_SIZE));
    private final AtomicInteger committed = new AtomicInteger();
    private final AtomicBoolean finishing = new AtomicBoolean();
    private final AtomicInteger finishes = new AtomicInteger();
    private final BatchCallbacks callbacks = new BatchCallbacks();
    private final BatchResult result = new BatchResult(null, null);
    private volatile FinishedBatch finished;

    TwinBatch(int size, Weakness weakness) {
        this.buffer = new byte[size];
        this.weakness = weakness;
    }

    @Override
    public Object append(EncodableRecord record, Callback callback) {
        while (true) {
            long seen = tail.get();
            if (BatchTail.isSealed(seen)) {
                return null;
            }
            int index = BatchTail.count(seen);
            int position = BatchTail.position(seen);
            int size = (int) RecordEncoder.bodySize(index, 0, record);
            int end = position + Varint.sizeOf(size) + size;
            if (end > buffer.length) {
                seal();
                return null;
            }
            if (claim(seen, BatchTail.of(index + 1, end))) {
                return write(index, position, record, callback);
            }
        }
    }

    private boolean claim(long seen, long claimed) {
        if (weakness == Weakness.CLAIM_WITHOUT_COMPARE || weakness == Weakness.CLAIM_OVERWRITES_SEAL) {
            Workers.hold();
        }
        if (weakness == Weakness.CLAIM_WITHOUT_COMPARE) {
            tail.set(claimed);
            return true;
        }
        if (weakness == Weakness.CLAIM_OVERWRITES_SEAL && tail.compareAndSet(BatchTail.seal(seen), claimed)) {
            return true;
        }
        return tail.compareAndSet(seen, claimed);
    }

    private Object write(int index, int position, EncodableRecord record, Callback callback) {
        if (callback != null) {
            callbacks.add(index, record, callback);
        }
        if (weakness == Weakness.FINISH_WITHOUT_COMMITS) {
            Workers.hold();
        }
        RecordEncoder.write(buffer, position, index, 0, record);
        long before = tail.get();
        if (weakness == Weakness.LOOK_BEFORE_WRITE) {
            Workers.hold();
        }
        int commits = committed.incrementAndGet();
        long seen = weakness == Weakness.LOOK_BEFORE_WRITE ? before : tail.get();
        if (BatchTail.isSealed(seen) && commits == BatchTail.count(seen)) {
            finish(seen);
        }
        return index;
    }

    @Override
    public void seal() {
        long seen = tail.get();
        while (!BatchTail.isSealed(seen)) {
            int before = committed.get();
            if (tail.compareAndSet(seen, BatchTail.seal(seen))) {
                if (weakness == Weakness.FINISH_UNGUARDED) {
                    Workers.hold();
                }
                int commits = weakness == Weakness.LOOK_BEFORE_WRITE ? before : committed.get();
                if (weakness == Weakness.FINISH_WITHOUT_COMMITS || commits == BatchTail.count(seen)) {
                    finish(BatchTail.seal(seen));
                }
                return;
            }
            seen = tail.get();
        }
    }

    private void finish(long sealed) {
        if (weakness != Weakness.FINISH_UNGUARDED && !finishing.compareAndSet(false, true)) {
            return;
        }
        int end = BatchTail.position(sealed);
        byte[] copy = Arrays.copyOf(buffer, buffer.length);
        FinishedBatch fresh = new FinishedBatch(null, result, callbacks, copy, 0);
        fresh.encode(BatchCodec.NONE, end, BatchTail.count(sealed), 1_000, 1_000);
        finished = fresh;
        finishes.incrementAndGet();
    }

    @Override
    public int finishes() {
        return finishes.get();
    }

    @Override
    public List<String> deliver() {
        finished.stamp(1, (short) 0, 0);
        finished.decide(0, -1, null);
        for (int i = 0; i < finished.count() && !callbacks.isEmpty(); i++) {
            Callback callback = callbacks.callback(i);
            if (callback != null) {
                callback.onCompletion(callbacks.metadata(i, result, i), null);
            }
        }
        return ReadBack.values(finished);
    }

    @Override
    public long indexOf(Object appended) {
        return (Integer) appended;
    }
}
