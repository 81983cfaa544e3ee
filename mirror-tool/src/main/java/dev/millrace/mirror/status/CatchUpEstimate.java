package dev.millrace.mirror.status;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/**
 * When a mirror will have caught up if its lag goes on to fall as fast as in the last minute, whether it makes an
 * initial copy or comes back after an outage.
 *
 * <p><b>Threads:</b> one adds, any asks.
 */
public final class CatchUpEstimate {
    private static final long WINDOW_NANOS = TimeUnit.MINUTES.toNanos(1);
    /** Over a shorter time the lag rises and falls with single fetches. */
    private static final long MIN_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Deque<Sample> samples = new ArrayDeque<>();
    private volatile double seconds = Double.NaN;

    /** @param partitions how many the lag is of */
    private record Sample(long atNanos, long lag, long acked, long partitions) {}

    /**
     * Adds what is known now. To be called about once a second.
     *
     * @param totals of the partitions that are not paused
     * @param partitions how many these are; when they become more or fewer, the lag changes without being copied
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
            return 0; // It is what a mirror that keeps up has on its way.
        }
        double fallPerSecond = (from.lag - to.lag) / passed;
        return fallPerSecond > 0 ? to.lag / fallPerSecond : Double.NaN;
    }

    /**
     * 0 if the mirror has caught up: it lacks no more than it copies in a second. NaN if it cannot be told: the lag does
     * not fall or is not known, or not for 5 s yet.
     */
    public double seconds() {
        return seconds;
    }
}
