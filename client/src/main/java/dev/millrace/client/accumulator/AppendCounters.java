package dev.millrace.client.accumulator;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts what happens once per batch while records are appended, and lost races between records.
 *
 * <p><b>Threads:</b> any. The counters are striped, so that counting causes no contention. A new stripe needs memory.
 * If there is none the count is lost, because nothing may throw between a record's claim and its commit.
 */
public final class AppendCounters {
    private final Map<SealCause, LongAdder> sealed = new EnumMap<>(SealCause.class);
    private final LongAdder claimsLost = new LongAdder();
    private final LongAdder waitedOn = new LongAdder();

    AppendCounters() {
        for (SealCause cause : SealCause.values()) {
            sealed.put(cause, new LongAdder());
        }
    }

    void countSealed(SealCause cause) {
        add(sealed.get(cause), 1);
    }

    void countLostClaims(int times) {
        add(claimsLost, times);
    }

    void countSealedWhileWritten() {
        add(waitedOn, 1);
    }

    private static void add(LongAdder counter, int times) {
        try {
            counter.add(times);
        } catch (OutOfMemoryError e) {
            // A lost count is better than a lost record.
        }
    }

    /** Returns how many batches were sealed for this reason. */
    public long sealedBecause(SealCause cause) {
        return sealed.get(cause).sum();
    }

    /** Returns how often a thread lost the race for room in a batch to another thread and tried again. */
    public long totalClaimsLost() {
        return claimsLost.sum();
    }

    /** Returns how many batches were sealed while a thread was still writing to them. */
    public long totalWaitedOn() {
        return waitedOn.sum();
    }
}
