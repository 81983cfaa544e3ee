package dev.millrace.mirror.status;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * For how long partitions have stalled, by cause. It is told once a second which do.
 *
 * <p><b>Threads:</b> one tells, any reads.
 */
public final class StallTimes {
    private final Map<StallCause, AtomicLong> nanos = new EnumMap<>(StallCause.class);
    private long toldNanos = System.nanoTime();

    public StallTimes() {
        for (StallCause cause : StallCause.values()) {
            nanos.put(cause, new AtomicLong());
        }
    }

    /** @param stalls one for each partition that has stalled since the last call */
    public void add(List<StallCause> stalls, long nowNanos) {
        stalls.forEach(cause -> nanos.get(cause).addAndGet(nowNanos - toldNanos));
        toldNanos = nowNanos;
    }

    /** Of every cause. */
    public Map<StallCause, Double> seconds() {
        Map<StallCause, Double> seconds = new EnumMap<>(StallCause.class);
        nanos.forEach((cause, time) -> seconds.put(cause, time.get() / 1e9));
        return seconds;
    }
}
