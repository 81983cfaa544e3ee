package dev.millrace.mirror;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What one consumer thread has done so far.
 *
 * <p><b>Threads:</b> its consumer thread writes, any thread reads.
 * <p><b>Ordering:</b> none between the counters; each is stored with release, so that the writer never waits.
 */
final class ThreadCounters {
    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong acked = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong behind = new AtomicLong();

    /** Counts records handed to the producer, and the bytes of their keys and values. */
    void addSent(long records, long size) {
        sent.setRelease(sent.getPlain() + records);
        bytes.setRelease(bytes.getPlain() + size);
        behind.setRelease(Math.max(0, behind.getPlain() - records));
    }

    void addAcked(long records) {
        acked.setRelease(acked.getPlain() + records);
    }

    /** Takes the number of records of the thread's partitions that it has not polled yet; counts down from there. */
    void setBehind(long records) {
        behind.setRelease(records);
    }

    Totals totals() {
        // Acknowledged first: read last, it could exceed what was read as sent.
        long done = acked.getAcquire();
        return new Totals(sent.getAcquire(), done, bytes.getAcquire(), behind.getAcquire());
    }

    /** The counters of one thread, or the sums of many, at about one moment. */
    record Totals(long sent, long acked, long bytes, long behind) {
        static final Totals NONE = new Totals(0, 0, 0, 0);

        Totals plus(Totals other) {
            return new Totals(sent + other.sent, acked + other.acked, bytes + other.bytes, behind + other.behind);
        }

        long inFlight() {
            return sent - acked;
        }

        /** Records of the source that the target has not acknowledged. */
        long lag() {
            return behind + inFlight();
        }
    }
}
