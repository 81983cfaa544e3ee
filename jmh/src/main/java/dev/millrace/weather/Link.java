package dev.millrace.weather;

import java.time.Duration;
import java.util.Locale;
import java.util.Random;

/**
 * The line to each broker of the far cluster.
 *
 * @param megabytesPerSecond in the direction of the records
 * @param backMegabytesPerSecond in the other direction
 * @param isSourceFar whether it is before the source, else before the target
 */
record Link(double megabytesPerSecond, double backMegabytesPerSecond, int roundTripMs, boolean isSourceFar) {
    private static final double MEGA = 1e6;
    private static final int MAX_ROUND_TRIP_MS = 150;
    private static final int SECONDS_OF_SMALL_BATCHES = 15;
    /** A busy machine with three brokers takes so long for a batch. */
    private static final int BROKER_MS = 50;

    static Link draw(Random random) {
        return new Link(
                Chance.logUniform(0.5, 100, random),
                Chance.logUniform(0.5, 100, random),
                random.nextInt(MAX_ROUND_TRIP_MS + 1),
                random.nextBoolean());
    }

    /** How many batches of one partition cross it in some seconds, however small: five are under way at a time. */
    int smallBatches() {
        return SECONDS_OF_SMALL_BATCHES * 1_000 * 5 / (roundTripMs + BROKER_MS);
    }

    /** From clients to brokers. */
    long bytesPerSecondToBrokers() {
        return (long) (MEGA * (isSourceFar ? backMegabytesPerSecond : megabytesPerSecond));
    }

    long bytesPerSecondFromBrokers() {
        return (long) (MEGA * (isSourceFar ? megabytesPerSecond : backMegabytesPerSecond));
    }

    Duration roundTrip() {
        return Duration.ofMillis(roundTripMs);
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "link %.1f MB/s, back %.1f MB/s, %d ms, before the %s",
                megabytesPerSecond,
                backMegabytesPerSecond,
                roundTripMs,
                isSourceFar ? "source" : "target");
    }
}
