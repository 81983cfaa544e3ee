package dev.millrace.mirror.status;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Adds up how long partitions have stalled, by cause. It learns once a second which stall.
 *
 * <p><b>Threads:</b> one thread adds, any thread reads.
 */
public final class StallTimes {
    private final Map<StallCause, AtomicLong> nanos = new EnumMap<>(StallCause.class);
    private long toldNanos = System.nanoTime();

    public StallTimes() {
        for (StallCause cause : StallCause.values()) {
            nanos.put(cause, new AtomicLong());
        }
    }

    /** @param stalls one cause for each partition that has stalled since the last call */
    public void add(List<StallCause> stalls, long nowNanos) {
        stalls.forEach(cause -> nanos.get(cause).addAndGet(nowNanos - toldNanos));
        toldNanos = nowNanos;
    }

    /** Returns the seconds of every cause. */
    public Map<StallCause, Double> seconds() {
        Map<StallCause, Double> seconds = new EnumMap<>(StallCause.class);
        nanos.forEach((cause, time) -> seconds.put(cause, time.get() / 1e9));
        return seconds;
    }
}
