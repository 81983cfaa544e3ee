package dev.millrace.client.io;

import java.util.function.LongSupplier;

/**
 * Tells how long brokers remember a producer. They forget it when the newest timestamp of its last batch in a partition
 * is older than {@code producer.id.expiration.ms}, which is compared with the clock every ten minutes, and whenever a
 * log is loaded. The records' timestamps count, not their arrival: a producer that copies old records may be forgotten
 * at any time.
 *
 * <p>Because clocks differ, only half of the time that a broker names is relied on, less the time that a request may
 * take.
 *
 * <p><b>Threads:</b> one I/O thread.
 */
final class BrokerMemory {
    /** A broker recognizes this many of the last batches of a producer in a partition. */
    static final int BATCHES = 5;

    /**
     * For this long after a leader has accepted a batch, or told what it remembers, that is relied on. It is less than
     * the shortest expiration that anybody sets, which may change at any time.
     */
    static final long AFTER_ANSWER_MS = 500;

    /** The longest time from sending a request until a broker, however busy, carries it out. */
    private static final long LONGEST_REQUEST_MS = 60_000;

    private static final int SAFETY = 2;

    private final LongSupplier wallClock;
    private long expirationMs;

    BrokerMemory(LongSupplier wallClock) {
        this.wallClock = wallClock;
    }

    /** Returns milliseconds of the wall clock, by which brokers count. */
    long wallMs() {
        return wallClock.getAsLong();
    }

    /** Notes that brokers forget a producer after this many milliseconds. */
    void learn(long brokersExpirationMs) {
        expirationMs = brokersExpirationMs;
    }

    /**
     * Whether a broker whose last written batch has this timestamp must still know its producer when it carries out a
     * request sent now. The later of both clocks counts: the monotonic one stands still while the machine is suspended,
     * and somebody may set the wall clock back.
     */
    boolean isCertain(long maxTimestamp, long nowMs) {
        long latestMs = Math.max(nowMs, wallMs());
        return latestMs + LONGEST_REQUEST_MS - maxTimestamp < expirationMs / SAFETY;
    }
}
