package dev.millrace.mirror.member;

import dev.millrace.mirror.status.MirrorTotals;
import dev.millrace.mirror.status.ThreadCounters;

/**
 * A member of the mirror's group. It copies the partitions that it owns until the mirror stops; if it fails, the mirror
 * stops.
 *
 * <p><b>Threads:</b> {@link #run} in a thread of its own, {@link #totals} and {@link #counters} in any.
 */
public interface Member extends Runnable {
    /** Returns what has been done so far. */
    MirrorTotals totals();

    /** Returns the counters of the member's thread, with those of its partitions. */
    ThreadCounters counters();
}
