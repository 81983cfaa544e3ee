package dev.millrace.mirror.pass;

import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the batches that a worker has passed, opened for each reason, and skipped because they were aborted or had no
 * data.
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

    /** Describes what several workers have counted; leaves out reasons that did not occur. */
    public static String describe(Collection<BatchCounters> all) {
        long passed = all.stream().mapToLong(BatchCounters::passed).sum();
        long skipped = all.stream().mapToLong(BatchCounters::skipped).sum();
        List<String> reasons = new ArrayList<>();
        long opened = 0;
        for (OpenReason reason : OpenReason.values()) {
            long count = all.stream().mapToLong(next -> next.opened(reason)).sum();
            opened += count;
            if (count > 0) {
                reasons.add(count + " " + reason.name().toLowerCase(Locale.ROOT).replace('_', ' '));
            }
        }
        return "Batches: " + passed + " passed as they came, " + opened + " opened"
                + (reasons.isEmpty() ? "" : " (" + String.join(", ", reasons) + ")") + ", " + skipped
                + " skipped (aborted, or without data)";
    }
}
