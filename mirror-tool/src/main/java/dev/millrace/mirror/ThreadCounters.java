package dev.millrace.mirror;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What one consumer thread has done so far.
 *
 * <p><b>Threads:</b> the consumer thread writes, any thread reads.
 * <p><b>Ordering:</b> none between the counters. Each is stored with release, so that the writer never waits.
 */
final class ThreadCounters {
    /** How long a measured lag is valid: the source may have grown since then. */
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

    /** Counts records that were sent and are no longer waited for, because their partition was given up. */
    void addDropped(long records) {
        dropped.setRelease(dropped.getPlain() + records);
    }

    /**
     * Sets the number of records of the thread's partitions that it has not polled yet; sending counts down from there.
     *
     * @param complete whether the number is known for all partitions
     */
    void setUnpolled(long records, boolean complete, long nowNanos) {
        unpolled.setRelease(records);
        unpolledNanos.setRelease(complete ? nowNanos : nowNanos - FRESH_NANOS);
    }

    MirrorTotals totals(long nowNanos) {
        // Outcomes are read first. Read last, they could exceed the number read as sent.
        long done = acked.getAcquire();
        long gone = dropped.getAcquire();
        boolean lagKnown = nowNanos - unpolledNanos.getAcquire() < FRESH_NANOS;
        return new MirrorTotals(sent.getAcquire(), done, gone, bytes.getAcquire(), unpolled.getAcquire(), lagKnown);
    }
}
