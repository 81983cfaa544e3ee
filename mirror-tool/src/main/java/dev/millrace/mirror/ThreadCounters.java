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
    private final AtomicLong behind = new AtomicLong();
    private final AtomicLong behindNanos;

    ThreadCounters(long nowNanos) {
        behindNanos = new AtomicLong(nowNanos - FRESH_NANOS);
    }

    /** Counts records handed to the producer, and the bytes of their keys and values. */
    void addSent(long records, long size) {
        sent.setRelease(sent.getPlain() + records);
        bytes.setRelease(bytes.getPlain() + size);
        behind.setRelease(Math.max(0, behind.getPlain() - records));
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
    void setBehind(long records, boolean complete, long nowNanos) {
        behind.setRelease(records);
        behindNanos.setRelease(complete ? nowNanos : nowNanos - FRESH_NANOS);
    }

    Totals totals(long nowNanos) {
        // What is done first: read last, it could exceed what was read as sent.
        long done = acked.getAcquire();
        long gone = dropped.getAcquire();
        boolean lagKnown = nowNanos - behindNanos.getAcquire() < FRESH_NANOS;
        return new Totals(sent.getAcquire(), done, gone, bytes.getAcquire(), behind.getAcquire(), lagKnown);
    }

    /**
     * The counters of one thread, or the sums of many, at about one moment.
     *
     * @param lagKnown whether {@code behind} counts all records; if not, there are at least so many
     */
    record Totals(long sent, long acked, long dropped, long bytes, long behind, boolean lagKnown) {
        static final Totals NONE = new Totals(0, 0, 0, 0, 0, true);

        Totals plus(Totals other) {
            return new Totals(
                    sent + other.sent,
                    acked + other.acked,
                    dropped + other.dropped,
                    bytes + other.bytes,
                    behind + other.behind,
                    lagKnown && other.lagKnown);
        }

        long inFlight() {
            return sent - acked - dropped;
        }

        /** Records of the source that the target has not acknowledged. */
        long lag() {
            return behind + inFlight();
        }
    }
}
