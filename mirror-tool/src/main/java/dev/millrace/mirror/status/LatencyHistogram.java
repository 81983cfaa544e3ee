package dev.millrace.mirror.status;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts records by the time from the source's timestamp to the target's acknowledgement.
 *
 * <p><b>Threads:</b> one thread adds, any thread reads.
 * <p><b>Ordering:</b> none between the counts. Each is stored with release, so that the writer never waits.
 */
final class LatencyHistogram {
    private static final long[] BOUNDS_MS = {
        5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 3_600_000
    };

    private final AtomicLongArray counts = new AtomicLongArray(BOUNDS_MS.length + 1);
    private final AtomicLong sumMs = new AtomicLong();

    void add(long latencyMs, long records) {
        int bucket = 0;
        while (bucket < BOUNDS_MS.length && latencyMs > BOUNDS_MS[bucket]) {
            bucket++;
        }
        counts.setRelease(bucket, counts.getPlain(bucket) + records);
        sumMs.setRelease(sumMs.getPlain() + latencyMs * records);
    }

    LatencyCounts counts() {
        long[] copy = new long[counts.length()];
        for (int i = 0; i < copy.length; i++) {
            copy[i] = counts.getAcquire(i);
        }
        return new LatencyCounts(BOUNDS_MS, copy, sumMs.getAcquire() / 1e3);
    }
}
