package dev.millrace.client.io;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Partitions to visit again at a given time. A partition is in here at most once. Visiting it early is harmless,
 * because each visit evaluates its state again.
 *
 * <p><b>Threads:</b> the I/O thread.
 */
final class Deadlines {
    private final PriorityQueue<Deadline> queue = new PriorityQueue<>(Comparator.comparingLong(d -> d.dueMs));

    /** Schedules the partition for {@code dueMs}, unless it is scheduled earlier. */
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

    /** Removes a partition that is due; null if there is none. */
    PartitionState pollDue(long nowMs) {
        Deadline first = queue.peek();
        if (first == null || first.dueMs > nowMs) {
            return null;
        }
        queue.poll();
        first.queued = false;
        return first.partition;
    }

    /** Removes all partitions, due or not. */
    List<PartitionState> pollAll() {
        List<PartitionState> all = new ArrayList<>(queue.size());
        for (Deadline deadline : queue) {
            deadline.queued = false;
            all.add(deadline.partition);
        }
        queue.clear();
        return all;
    }

    /** Milliseconds until the first is due; {@link Long#MAX_VALUE} if there is none. */
    long delayMs(long nowMs) {
        Deadline first = queue.peek();
        return first == null ? Long.MAX_VALUE : Math.max(0, first.dueMs - nowMs);
    }

    /** A time plus a duration, at most {@link Long#MAX_VALUE}. */
    static long plus(long timeMs, long durationMs) {
        return timeMs > Long.MAX_VALUE - durationMs ? Long.MAX_VALUE : timeMs + durationMs;
    }

    /** A partition's entry in one such queue. */
    static final class Deadline {
        private final PartitionState partition;
        private long dueMs;
        private boolean queued;

        Deadline(PartitionState partition) {
            this.partition = partition;
        }
    }
}
