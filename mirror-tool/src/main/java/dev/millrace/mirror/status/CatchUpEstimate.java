package dev.millrace.mirror.status;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/**
 * Estimates when a mirror will have caught up if its lag keeps falling as fast as in the last minute, during an initial
 * copy as well as after an outage.
 *
 * <p><b>Threads:</b> one thread adds, any thread asks.
 */
public final class CatchUpEstimate {
    private static final long WINDOW_NANOS = TimeUnit.MINUTES.toNanos(1);
    /** Within a shorter time, single fetches make the lag rise and fall. */
    private static final long MIN_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Deque<Sample> samples = new ArrayDeque<>();
    private volatile double seconds = Double.NaN;

    /** @param partitions how many partitions the lag covers */
    private record Sample(long atNanos, long lag, long acked, long partitions) {}

    /**
     * Adds the present figures. Call it about once a second.
     *
     * @param totals of the partitions that are not paused
     * @param partitions their number; when it changes, the lag changes without any copying
     */
    public void add(MirrorTotals totals, long partitions, long nowNanos) {
        Sample now = new Sample(nowNanos, totals.lag(), totals.acked(), partitions);
        boolean isComparable = totals.isLagKnown() && !samples.isEmpty() && samples.getLast().partitions == partitions;
        if (!isComparable) {
            samples.clear();
        }
        while (!samples.isEmpty() && nowNanos - samples.getFirst().atNanos > WINDOW_NANOS) {
            samples.removeFirst();
        }
        if (totals.isLagKnown()) {
            samples.addLast(now);
        }
        seconds = samples.isEmpty() ? Double.NaN : estimate(samples.getFirst(), now);
    }

    private static double estimate(Sample from, Sample to) {
        if (to.lag <= 0) {
            return 0;
        }
        long nanos = to.atNanos - from.atNanos;
        if (nanos < MIN_NANOS) {
            return Double.NaN;
        }
        double passed = nanos / 1e9;
        if (to.lag <= (to.acked - from.acked) / passed) {
            return 0; // a mirror that keeps up always has this much in flight
        }
        double fallPerSecond = (from.lag - to.lag) / passed;
        return fallPerSecond > 0 ? to.lag / fallPerSecond : Double.NaN;
    }

    /**
     * Returns the seconds until the mirror has caught up; 0 if it lacks no more than it copies in a second. Returns NaN
     * if the lag does not fall, is not known, or has been known for less than 5 s.
     */
    public double seconds() {
        return seconds;
    }
}
