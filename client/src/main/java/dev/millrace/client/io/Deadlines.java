package dev.millrace.client.io;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Predicate;

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
        return pollIf(partition -> true);
    }

    /** Removes the partitions for which the predicate holds, due or not. */
    List<PartitionState> pollIf(Predicate<PartitionState> isWanted) {
        List<PartitionState> removed = new ArrayList<>(queue.size());
        queue.removeIf(deadline -> {
            if (!isWanted.test(deadline.partition)) {
                return false;
            }
            deadline.queued = false;
            removed.add(deadline.partition);
            return true;
        });
        return removed;
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
