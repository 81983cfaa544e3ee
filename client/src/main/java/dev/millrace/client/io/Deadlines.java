package dev.millrace.client.io;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Partitions to look at again when their time has come. A partition is in here at most once; being early is harmless,
 * because whoever is called looks at the partition afresh.
 */
final class Deadlines {
    private final PriorityQueue<Deadline> queue = new PriorityQueue<>(Comparator.comparingLong(d -> d.dueMs));

    /** Makes sure that the partition comes up by {@code dueMs}. */
    void scheduleBy(Deadline deadline, long dueMs) {
        if (deadline.queued) {
            if (deadline.dueMs <= dueMs) {
                return;
            }
            queue.remove(deadline);
        }
        deadline.dueMs = dueMs;
        deadline.queued = true;
        queue.add(deadline);
    }

    /** A partition whose time has come, or null. */
    PartitionState pollDue(long nowMs) {
        Deadline first = queue.peek();
        if (first == null || first.dueMs > nowMs) {
            return null;
        }
        queue.poll();
        first.queued = false;
        return first.partition;
    }

    /** Takes out all partitions, due or not. */
    List<PartitionState> pollAll() {
        List<PartitionState> all = new ArrayList<>(queue.size());
        for (Deadline deadline : queue) {
            deadline.queued = false;
            all.add(deadline.partition);
        }
        queue.clear();
        return all;
    }

    /** Milliseconds until the first comes up; {@link Long#MAX_VALUE} if there is none. */
    long delayMs(long nowMs) {
        Deadline first = queue.peek();
        return first == null ? Long.MAX_VALUE : Math.max(0, first.dueMs - nowMs);
    }

    /** A time plus a duration that may be "for ever". */
    static long plus(long timeMs, long durationMs) {
        return timeMs > Long.MAX_VALUE - durationMs ? Long.MAX_VALUE : timeMs + durationMs;
    }

    /** A partition's place in one such queue. */
    static final class Deadline {
        private final PartitionState partition;
        private long dueMs;
        private boolean queued;

        Deadline(PartitionState partition) {
            this.partition = partition;
        }
    }
}
