package dev.millrace.mirror.member;

import dev.millrace.mirror.status.MirrorTotals;
import dev.millrace.mirror.status.ThreadCounters;

/**
 * A member of the mirror's group, which copies the partitions that it owns until the mirror stops. A failure of it stops
 * the mirror.
 *
 * <p><b>Threads:</b> {@link #run} in a thread of its own, {@link #totals} and {@link #counters} in any.
 */
public interface Member extends Runnable {
    /** What has been done so far. */
    MirrorTotals totals();

    /** Those of its thread, which has the partitions. */
    ThreadCounters counters();
}
