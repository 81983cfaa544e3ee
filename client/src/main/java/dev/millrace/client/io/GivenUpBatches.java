package dev.millrace.client.io;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.accumulator.PartitionQueue;
import dev.millrace.client.accumulator.SealCause;
import dev.millrace.client.accumulator.Withdrawal;
import java.util.ArrayList;
import java.util.List;

/**
 * Fails batches of a partition that are not sent (again), because they are too old, cannot be written, were withdrawn,
 * follow a failed one, or the producer ends. The caller delivers them afterwards.
 *
 * <p><b>Threads:</b> the partition's I/O thread.
 */
final class GivenUpBatches {
    private final PartitionQueue queue;
    private final OutstandingBatches outstanding;
    private final Sequences sequences;

    /** Withdrawals whose end the application awaits. */
    private final List<Withdrawal> withdrawals = new ArrayList<>(0);

    GivenUpBatches(PartitionQueue queue, OutstandingBatches outstanding, Sequences sequences) {
        this.queue = queue;
        this.outstanding = outstanding;
        this.sequences = sequences;
    }

    /** Fails every batch opened before {@code createdBeforeMs}, the oldest first. Deliver them afterwards. */
    void failOpenedBefore(long createdBeforeMs, Failure reason) {
        for (FinishedBatch batch : outstanding) {
            if (!batch.isDecided() && batch.createdMs() < createdBeforeMs) {
                RuntimeException cause = reason.of(batch);
                sequences.onFailed(true, cause); // its sequence was sent, or a later part's was
                fail(batch, cause, reason.isCounted());
            }
        }
        failUnsent(createdBeforeMs, reason);
    }

    /** Does the same as {@link #failOpenedBefore}, but only for batches without a sequence. */
    void failUnsent(long createdBeforeMs, Failure reason) {
        while (queue.hasRecords() && queue.oldestCreatedMs() < createdBeforeMs) {
            queue.sealOldest(SealCause.FAILURE);
            FinishedBatch batch = queue.peek();
            if (batch == null) {
                return; // a writer is about to commit, and will then hand over the partition
            }
            takeToFail(batch, batch.isUnwritable() ? batch.failure() : reason.of(batch), reason.isCounted());
        }
    }

    /** Fails finished batches that must not be sent because they could not be written. */
    void failUnwritable() {
        for (FinishedBatch batch = queue.peek(); batch != null && batch.isUnwritable(); batch = queue.peek()) {
            takeToFail(batch, batch.failure(), true);
        }
    }

    /**
     * Fails what is not in flight after a batch with given sequences has failed, because the broker expects that one.
     * Does so without given sequences, too, if the application wants it so, but only with what follows the failed batch;
     * that is not sent again either if it is in flight.
     */
    void failAfterGap() {
        RuntimeException cause = sequences.given().failureOrNull();
        if (cause == null) {
            return;
        }
        if (sequences.given().areUsed()) {
            failNotInFlight(outstanding, cause);
        } else if (withdrawals.isEmpty()) {
            // Otherwise what is here was written after the withdrawals, and waits until they are done.
            giveUp(outstanding.afterFailed(), cause);
        }
    }

    /** Fails what the application has withdrawn, and marks what is in flight so that it is not sent again. */
    void failWithdrawn() {
        Withdrawal asked = queue.takeWithdrawal();
        if (asked == null) {
            return;
        }
        withdrawals.add(asked);
        giveUp(outstanding, asked.cause());
    }

    /** Fails these batches and all that are not sent yet, and marks those in flight so that they are not sent again. */
    private void giveUp(Iterable<FinishedBatch> batches, RuntimeException cause) {
        for (FinishedBatch batch : batches) {
            if (batch.isInFlight()) {
                batch.withdraw(cause);
            }
        }
        failNotInFlight(batches, cause);
    }

    private void failNotInFlight(Iterable<FinishedBatch> batches, RuntimeException cause) {
        for (FinishedBatch batch : batches) {
            if (!batch.isDecided() && !batch.isInFlight()) {
                sequences.onFailed(true, cause);
                batch.decide(-1, -1, cause);
            }
        }
        failUnsent(Long.MAX_VALUE, batch -> cause);
    }

    /**
     * Tells the application that what it has withdrawn can no longer be written. Call it only while nothing is in
     * flight.
     */
    void completeWithdrawals() {
        if (!withdrawals.isEmpty()) {
            sequences.given().onWithdrawn();
            withdrawals.forEach(withdrawal -> withdrawal.done().complete(null));
            withdrawals.clear();
        }
    }

    private void takeToFail(FinishedBatch batch, RuntimeException cause, boolean isCounted) {
        sequences.given().onFailed(cause);
        fail(batch, cause, isCounted);
        outstanding.moveFrom(queue); // its callbacks run after those of the batches before it
    }

    private static void fail(FinishedBatch batch, RuntimeException cause, boolean isCounted) {
        batch.decide(-1, -1, cause);
        if (!isCounted) {
            batch.leaveUncounted();
        }
    }

    /** Gives the reason why a batch fails. */
    interface Failure {
        RuntimeException of(FinishedBatch batch);

        /** Whether the metrics count the records as failed. */
        default boolean isCounted() {
            return true;
        }
    }

    /** The records are given up without counting as failed, as with the stock producer. */
    record Abort(RuntimeException reason) implements Failure {
        @Override
        public RuntimeException of(FinishedBatch batch) {
            return reason;
        }

        @Override
        public boolean isCounted() {
            return false;
        }
    }
}
