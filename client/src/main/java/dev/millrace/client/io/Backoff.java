package dev.millrace.client.io;

import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;

/**
 * Delays that double with every attempt up to a limit, with 20 % of jitter so that clients do not retry all at once
 * (KIP-580).
 *
 * @param initialMs the first delay, milliseconds; {@code maxMs} limits it too
 * @param maxMs the longest delay, milliseconds
 * @param random uniform from 0 to 1; called by every I/O thread
 */
public record Backoff(long initialMs, long maxMs, DoubleSupplier random) {
    private static final double JITTER = 0.2;
    private static final int MAX_DOUBLINGS = 30;

    /** Adding this to a time does not overflow. */
    private static final long LONGEST_MS = Long.MAX_VALUE / 2;

    public Backoff {
        maxMs = Math.min(maxMs, LONGEST_MS);
    }

    /** Uses a random generator per thread, so that threads share none. */
    public Backoff(long initialMs, long maxMs) {
        this(initialMs, maxMs, () -> ThreadLocalRandom.current().nextDouble());
    }

    /** Returns how long to wait, milliseconds, after {@code attempts} have failed; 0 after none. */
    public long delayMs(int attempts) {
        if (attempts <= 0) {
            return 0;
        }
        double exact = (double) initialMs * (1L << Math.min(attempts - 1, MAX_DOUBLINGS));
        double spread = 1 + JITTER * (random.getAsDouble() * 2 - 1);
        return (long) Math.min(Math.min(exact, (double) maxMs) * spread, (double) maxMs);
    }
}
