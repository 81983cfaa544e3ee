package dev.millrace.client.io;

import java.util.function.LongSupplier;

/**
 * How long brokers remember a producer. They forget it when the newest timestamp of its last batch in a partition is
 * older than {@code producer.id.expiration.ms}, which is compared with the clock every ten minutes, and whenever a log
 * is loaded. It is the records' timestamps that count, not when they came: one that copies old records may be forgotten
 * at any time.
 *
 * <p>Half of the time that a broker tells is taken for granted, because clocks differ, less what a request may take.
 *
 * <p><b>Threads:</b> one I/O thread.
 */
final class BrokerMemory {
    /** A broker recognizes so many of the last batches of a producer in a partition. */
    static final int BATCHES = 5;

    /**
     * For so long after a leader has accepted a batch, or has told what it remembers, that counts: less than the shortest
     * expiration that anybody sets, which may be changed at any time.
     */
    static final long AFTER_ANSWER_MS = 500;

    /** From sending a request until a broker carries it out, however busy it is. */
    private static final long LONGEST_REQUEST_MS = 60_000;

    private static final int SAFETY = 2;

    private final LongSupplier wallClock;
    private long expirationMs;

    BrokerMemory(LongSupplier wallClock) {
        this.wallClock = wallClock;
    }

    /** Milliseconds of the wall clock, by which brokers count. */
    long wallMs() {
        return wallClock.getAsLong();
    }

    /** Brokers forget a producer after so many milliseconds. */
    void learn(long brokersExpirationMs) {
        expirationMs = brokersExpirationMs;
    }

    /**
     * Whether a broker that has written a batch with this timestamp as the last one must know its producer when it
     * carries out what is sent now. The later of both clocks counts: the monotonic one stands still while the machine is
     * suspended, and somebody may set the wall clock back.
     */
    boolean isCertain(long maxTimestamp, long nowMs) {
        long latestMs = Math.max(nowMs, wallMs());
        return latestMs + LONGEST_REQUEST_MS - maxTimestamp < expirationMs / SAFETY;
    }
}
