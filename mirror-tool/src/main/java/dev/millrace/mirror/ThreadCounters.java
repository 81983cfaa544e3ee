package dev.millrace.mirror;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What one consumer thread has done so far.
 *
 * <p><b>Threads:</b> its consumer thread writes, any thread reads.
 * <p><b>Ordering:</b> none between the counters; each is stored with release, so that the writer never waits.
 */
final class ThreadCounters {
    /** A thread that was held up for longer does not know how far the source has got since. */
    static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong acked = new AtomicLong();
    private final AtomicLong dropped = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong unpolled = new AtomicLong();
    private final AtomicLong unpolledNanos;

    ThreadCounters(long nowNanos) {
        unpolledNanos = new AtomicLong(nowNanos - FRESH_NANOS);
    }

    /** Counts records handed to the producer, and the bytes of their keys and values. */
    void addSent(long records, long size) {
        sent.setRelease(sent.getPlain() + records);
        bytes.setRelease(bytes.getPlain() + size);
        unpolled.setRelease(Math.max(0, unpolled.getPlain() - records));
    }

    void addAcked(long records) {
        acked.setRelease(acked.getPlain() + records);
    }

    /** Counts records that were sent and are awaited no more, for their partition was given up. */
    void addDropped(long records) {
        dropped.setRelease(dropped.getPlain() + records);
    }

    /**
     * Takes the number of records of the thread's partitions that it has not polled yet; counts down from there.
     *
     * @param complete whether that is all of them; false when it is known of some partitions only
     */
    void setUnpolled(long records, boolean complete, long nowNanos) {
        unpolled.setRelease(records);
        unpolledNanos.setRelease(complete ? nowNanos : nowNanos - FRESH_NANOS);
    }

    MirrorTotals totals(long nowNanos) {
        // What is done first: read last, it could exceed what was read as sent.
        long done = acked.getAcquire();
        long gone = dropped.getAcquire();
        boolean lagKnown = nowNanos - unpolledNanos.getAcquire() < FRESH_NANOS;
        return new MirrorTotals(sent.getAcquire(), done, gone, bytes.getAcquire(), unpolled.getAcquire(), lagKnown);
    }
}
