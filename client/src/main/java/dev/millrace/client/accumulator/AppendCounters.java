package dev.millrace.client.accumulator;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * What is counted while records are appended: only what happens once a batch, or to a record that lost a race.
 *
 * <p><b>Threads:</b> any. The counters are striped, so that counting does not make threads meet that would not meet
 * otherwise. A new stripe needs memory; counting goes without it, for it may stand between a record's claim and its commit.
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

    void sealed(SealCause cause) {
        add(sealed.get(cause), 1);
    }

    void claimsLost(int times) {
        add(claimsLost, times);
    }

    void waitedOn() {
        add(waitedOn, 1);
    }

    private static void add(LongAdder counter, int times) {
        try {
            counter.add(times);
        } catch (OutOfMemoryError e) {
            // A count is worth less than a record.
        }
    }

    /** Batches that took no further record for this reason. */
    public long sealedBecause(SealCause cause) {
        return sealed.get(cause).sum();
    }

    /** How often a thread that claimed room found that another one had been quicker, and tried again. */
    public long totalClaimsLost() {
        return claimsLost.sum();
    }

    /** Batches that were sealed while a thread still wrote to them. */
    public long totalWaitedOn() {
        return waitedOn.sum();
    }
}
