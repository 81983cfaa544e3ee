package dev.millrace.client.io;

import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;

/**
 * Waiting times that double with every attempt up to a limit, with 20 % of jitter so that clients do not come back all at
 * once (KIP-580).
 *
 * @param initialMs the first, milliseconds
 * @param maxMs the longest, milliseconds; also the first if that is longer
 * @param random from 0 to 1, evenly; called by every I/O thread
 */
public record Backoff(long initialMs, long maxMs, DoubleSupplier random) {
    private static final double JITTER = 0.2;
    private static final int MAX_DOUBLINGS = 30;

    /** So that a time plus a delay does not overflow. */
    private static final long LONGEST_MS = Long.MAX_VALUE / 2;

    public Backoff {
        maxMs = Math.min(maxMs, LONGEST_MS);
    }

    /** With a source of randomness of each thread's own, so that threads share nothing. */
    public Backoff(long initialMs, long maxMs) {
        this(initialMs, maxMs, () -> ThreadLocalRandom.current().nextDouble());
    }

    /** How long to wait, milliseconds, after {@code attempts} have failed; 0 after none. */
    long delayMs(int attempts) {
        if (attempts <= 0) {
            return 0;
        }
        double exact = (double) initialMs * (1L << Math.min(attempts - 1, MAX_DOUBLINGS));
        double spread = 1 + JITTER * (random.getAsDouble() * 2 - 1);
        return (long) Math.min(Math.min(exact, (double) maxMs) * spread, (double) maxMs);
    }
}
