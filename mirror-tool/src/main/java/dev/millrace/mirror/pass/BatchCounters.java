package dev.millrace.mirror.pass;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How many batches a worker has passed, how many it has opened for which reason, and how many it has skipped because
 * they were aborted or had no data.
 *
 * <p><b>Threads:</b> the worker counts, any thread reads.
 * <p><b>Ordering:</b> none between the counters. Each is stored with release, so that the worker never waits.
 */
public final class BatchCounters {
    private final AtomicLong passed = new AtomicLong();
    private final AtomicLong skipped = new AtomicLong();
    private final Map<OpenReason, AtomicLong> opened = new EnumMap<>(OpenReason.class);

    public BatchCounters() {
        for (OpenReason reason : OpenReason.values()) {
            opened.put(reason, new AtomicLong());
        }
    }

    public void onPassed() {
        increment(passed);
    }

    public void onOpened(OpenReason reason) {
        increment(opened.get(reason));
    }

    public void onSkipped() {
        increment(skipped);
    }

    private static void increment(AtomicLong counter) {
        counter.setRelease(counter.getPlain() + 1);
    }

    public long passed() {
        return passed.getAcquire();
    }

    public long opened(OpenReason reason) {
        return opened.get(reason).getAcquire();
    }

    public long skipped() {
        return skipped.getAcquire();
    }
}
