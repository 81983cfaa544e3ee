package dev.millrace.client.io;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;

/**
 * Partitions to visit again at a given time. Visiting one early is harmless, because each visit evaluates its state
 * again.
 *
 * <p>A binary heap in which each {@link Deadline} knows its index, so that a partition leaves it in logarithmic time:
 * ten thousand partitions may linger, and each leaves when its batch is full.
 *
 * <p><b>Threads:</b> the I/O thread.
 */
final class Deadlines {
    private static final int INITIAL_CAPACITY = 8;

    private Deadline[] heap = new Deadline[INITIAL_CAPACITY];
    private int size;

    /** Moves the deadline here, due at {@code dueMs}, unless it is here already and due earlier. */
    void scheduleBy(Deadline deadline, long dueMs) {
        if (deadline.owner == this && deadline.dueMs <= dueMs) {
            return;
        }
        deadline.cancel();
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, 2 * size);
        }
        deadline.dueMs = dueMs;
        deadline.owner = this;
        moveUp(deadline, size++);
    }

    /** Removes the partitions that are due, the earliest first. */
    List<PartitionState> pollDue(long nowMs) {
        if (delayMs(nowMs) > 0) {
            return List.of();
        }
        List<PartitionState> due = new ArrayList<>();
        while (size > 0 && heap[0].dueMs <= nowMs) {
            due.add(heap[0].partition);
            heap[0].cancel();
        }
        return due;
    }

    /** Removes all partitions, due or not. */
    List<PartitionState> pollAll() {
        return pollIf(partition -> true);
    }

    /** Removes the partitions for which the predicate holds, due or not. */
    List<PartitionState> pollIf(Predicate<PartitionState> isWanted) {
        List<PartitionState> removed = new ArrayList<>(size);
        int kept = 0;
        for (int i = 0; i < size; i++) {
            if (isWanted.test(heap[i].partition)) {
                heap[i].owner = null;
                removed.add(heap[i].partition);
            } else {
                put(heap[i], kept++);
            }
        }
        Arrays.fill(heap, kept, size, null);
        size = kept;
        for (int i = size / 2 - 1; i >= 0; i--) {
            moveDown(heap[i], i);
        }
        return removed;
    }

    /** Returns milliseconds until the first is due; {@link Long#MAX_VALUE} if there is none. */
    long delayMs(long nowMs) {
        return size == 0 ? Long.MAX_VALUE : Math.max(0, heap[0].dueMs - nowMs);
    }

    private void remove(Deadline deadline) {
        deadline.owner = null;
        Deadline last = heap[--size];
        heap[size] = null;
        if (last != deadline) {
            moveDown(last, deadline.index);
            if (last.index == deadline.index) {
                moveUp(last, last.index);
            }
        }
    }

    /** Puts the deadline at the index, or below those of its ancestors that are not later. */
    private void moveUp(Deadline deadline, int index) {
        int at = index;
        while (at > 0 && heap[(at - 1) / 2].dueMs > deadline.dueMs) {
            put(heap[(at - 1) / 2], at);
            at = (at - 1) / 2;
        }
        put(deadline, at);
    }

    /** Puts the deadline at the index, or above those of its descendants that are not earlier. */
    private void moveDown(Deadline deadline, int index) {
        int at = index;
        while (2 * at + 1 < size) {
            int child = 2 * at + 1;
            if (child + 1 < size && heap[child + 1].dueMs < heap[child].dueMs) {
                child++;
            }
            if (heap[child].dueMs >= deadline.dueMs) {
                break;
            }
            put(heap[child], at);
            at = child;
        }
        put(deadline, at);
    }

    private void put(Deadline deadline, int index) {
        heap[index] = deadline;
        deadline.index = index;
    }

    /** Returns a time plus a duration, at most {@link Long#MAX_VALUE}. */
    static long plus(long timeMs, long durationMs) {
        return timeMs > Long.MAX_VALUE - durationMs ? Long.MAX_VALUE : timeMs + durationMs;
    }

    /** A partition's entry: in one such heap at a time, or in none. */
    static final class Deadline {
        private final PartitionState partition;
        private Deadlines owner;
        private int index;
        private long dueMs;

        Deadline(PartitionState partition) {
            this.partition = partition;
        }

        /** Removes the entry from the heap that it is in, if any. */
        void cancel() {
            if (owner != null) {
                owner.remove(this);
            }
        }
    }
}
