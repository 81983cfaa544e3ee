package dev.millrace.client.io;

import dev.millrace.client.accumulator.Evidence;
import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.accumulator.PartitionQueue;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Predicate;

/**
 * The batches that were taken from a partition's queue and are not done, in the order of their sequences: sent ones,
 * the parts of split ones, and those taken only to fail. A batch is done when it is delivered and not in flight.
 *
 * <p><b>Threads:</b> the I/O thread.
 */
final class OutstandingBatches implements Iterable<FinishedBatch> {
    private static final int FIRST_CAPACITY = 16;

    private ArrayDeque<FinishedBatch> batches = new ArrayDeque<>(FIRST_CAPACITY);
    /** The deque takes this many without growing. One that lacks the memory to grow looks empty afterwards. */
    private int capacity = FIRST_CAPACITY;

    boolean isEmpty() {
        return batches.isEmpty();
    }

    /** Adds the batch, or throws for lack of memory and changes nothing. */
    void addLast(FinishedBatch batch) {
        if (batches.size() == capacity) {
            ArrayDeque<FinishedBatch> larger = new ArrayDeque<>(2 * capacity);
            larger.addAll(batches);
            batches = larger;
            capacity *= 2;
        }
        batches.addLast(batch);
    }

    /** Takes the queue's first finished batch. If there is no memory for that, the batch remains in the queue. */
    void moveFrom(PartitionQueue queue) {
        addLast(queue.peek());
        queue.take();
    }

    @Override
    public Iterator<FinishedBatch> iterator() {
        return batches.iterator();
    }

    /** Returns the number of batches from the first without an outcome up to this one; null stands for the next one. */
    int countUpTo(FinishedBatch batchOrNull) {
        int count = 0;
        for (FinishedBatch other : batches) {
            count += count > 0 || !other.isDecided() ? 1 : 0;
            if (isSame(other, batchOrNull)) {
                return count;
            }
        }
        return count + 1;
    }

    /** Returns the batches after the first that has failed; all if it is no longer here. */
    List<FinishedBatch> afterFailed() {
        List<FinishedBatch> after = new ArrayList<>(batches);
        for (int i = 0; i < after.size(); i++) {
            if (after.get(i).isDecided() && !after.get(i).isAccepted()) {
                return after.subList(i + 1, after.size());
            }
        }
        return after;
    }

    /** Returns the first batch that must be sent again, or null. */
    FinishedBatch firstToSendAgain() {
        for (FinishedBatch batch : batches) {
            if (!batch.isDecided() && !batch.isInFlight()) {
                return batch;
            }
        }
        return null;
    }

    /** Returns the first batch without an outcome for which this evidence holds, or null. */
    FinishedBatch firstUndecided(Evidence evidence) {
        for (FinishedBatch batch : batches) {
            if (!batch.isDecided() && batch.evidence() == evidence) {
                return batch;
            }
        }
        return null;
    }

    /** Returns the first batch without an outcome, or null. */
    FinishedBatch firstUndecided() {
        for (FinishedBatch batch : batches) {
            if (!batch.isDecided()) {
                return batch;
            }
        }
        return null;
    }

    /** Whether every earlier batch has an outcome. */
    boolean isFirstUndecided(FinishedBatch batch) {
        for (FinishedBatch other : batches) {
            if (isSame(other, batch)) {
                return true;
            }
            if (!other.isDecided()) {
                return false;
            }
        }
        return false;
    }

    /** Whether the broker has accepted a later batch. */
    boolean isLaterAccepted(FinishedBatch batch) {
        return anyAfter(batch, FinishedBatch::isAccepted);
    }

    /** Whether the predicate holds for any batch after this one. */
    boolean anyAfter(FinishedBatch batch, Predicate<FinishedBatch> isSuch) {
        boolean isLater = false;
        for (FinishedBatch other : batches) {
            if (isLater && isSuch.test(other)) {
                return true;
            }
            isLater |= isSame(other, batch);
        }
        return false;
    }

    /** Whether the predicate holds for this batch or any after it. */
    boolean anyFrom(FinishedBatch batch, Predicate<FinishedBatch> isSuch) {
        return isSuch.test(batch) || anyAfter(batch, isSuch);
    }

    /** Replaces the whole by its parts; if there is no memory for that, nothing changes. */
    void replace(FinishedBatch whole, List<FinishedBatch> parts) {
        int enough = Math.max(capacity, batches.size() + parts.size());
        ArrayDeque<FinishedBatch> after = new ArrayDeque<>(enough);
        for (FinishedBatch other : batches) {
            if (isSame(other, whole)) {
                after.addAll(parts);
            } else {
                after.add(other);
            }
        }
        batches = after;
        capacity = enough;
    }

    @SuppressWarnings("ReferenceEquality") // batches are compared by identity
    private static boolean isSame(FinishedBatch a, FinishedBatch b) {
        return a == b;
    }
}
