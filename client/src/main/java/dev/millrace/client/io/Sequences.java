package dev.millrace.client.io;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.accumulator.PartitionQueue;
import dev.millrace.client.accumulator.SequenceStart;

/**
 * Gives the batches of one partition their producer id, epoch and sequence, and knows whether the sequences have a gap:
 * whether the broker may be waiting for one that will never arrive.
 *
 * <p><b>Threads:</b> the partition's I/O thread.
 */
final class Sequences {
    private final GivenSequences given;
    private final boolean idempotent;
    private final TransactionShare transactions;

    private ProducerId producerId = ProducerId.NONE;
    private int next;
    private int nextAcknowledged;

    private Gap gap = Gap.NONE;

    private enum Gap {
        NONE,
        /**
         * A batch with a sequence has failed: no new sequences until it is known whether the broker waits for that one.
         */
        POSSIBLE,
        /** The broker waits for a sequence that will never arrive, so a new epoch is needed. */
        CERTAIN
    }

    Sequences(PartitionQueue queue, boolean idempotent, TransactionShare transactions) {
        this.given = new GivenSequences(queue);
        this.idempotent = idempotent;
        this.transactions = transactions;
    }

    /** Returns the sequences that the application sets, if it does. */
    GivenSequences given() {
        return given;
    }

    /**
     * Whether batches after a gap may be sent with a new epoch: not if they belong to a transaction or the application
     * sets the sequences.
     */
    boolean mayRenumber() {
        return !transactions.isTransactional() && !given.areUsed();
    }

    /** Whether the batches are of the first transaction of the epoch, and no broker has acknowledged any of them. */
    boolean isTransactionNew() {
        return transactions.isTransactional() && nextAcknowledged == 0;
    }

    ProducerId producerId() {
        return producerId;
    }

    /**
     * Gives the next batch its producer id, epoch and sequence.
     *
     * @param alone whether no batch before it is without an outcome
     * @return whether the sequences begin again with it, so that the leader must accept it before it gets another
     */
    boolean number(FinishedBatch batch, ProducerId newest, boolean alone) {
        if (!idempotent) {
            batch.stamp(ProducerId.NONE.id(), ProducerId.NONE.epoch(), FinishedBatch.NO_SEQUENCE);
            return false;
        }
        boolean isStart = given.areNew() || (alone && mayRestartAlone(newest));
        if (given.areNew()) {
            goOnFrom(given.apply());
        } else if (isStart) {
            restart(newest);
        }
        continueWith(batch);
        return isStart;
    }

    private boolean mayRestartAlone(ProducerId newest) {
        return !given.areUsed() && !newest.equals(producerId);
    }

    private void goOnFrom(SequenceStart start) {
        producerId = new ProducerId(start.producerId(), start.epoch());
        next = start.sequence();
        nextAcknowledged = start.sequence();
    }

    /** Restarts the sequences: at 0 in a new epoch; in the same epoch, at what the broker expects. */
    void restart(ProducerId newest) {
        if (!newest.isSameEpochAs(producerId)) {
            nextAcknowledged = 0;
        }
        producerId = newest;
        next = nextAcknowledged;
        gap = Gap.NONE;
    }

    /** Gives the batch the next sequence. */
    void continueWith(FinishedBatch batch) {
        stamp(batch, next);
        next = after(next, batch.count());
    }

    /** Gives the parts of a batch that batch's sequences. */
    void numberParts(FinishedBatch whole, Iterable<FinishedBatch> parts) {
        int sequence = whole.sequence();
        for (FinishedBatch part : parts) {
            stamp(part, sequence);
            sequence = idempotent ? after(sequence, part.count()) : FinishedBatch.NO_SEQUENCE;
        }
    }

    private void stamp(FinishedBatch batch, int sequence) {
        if (transactions.isTransactional()) {
            batch.setTransactional();
        }
        batch.stamp(producerId.id(), producerId.epoch(), sequence);
    }

    /** The broker has the batch and had accepted no later one. */
    void onAccepted(FinishedBatch batch) {
        nextAcknowledged = after(batch.sequence(), batch.count());
    }

    /** A batch failed and may be missing in the log. */
    void onFailed(boolean hasSequence, RuntimeException cause) {
        given.onFailed(cause);
        if (!given.areUsed() && idempotent && hasSequence && gap == Gap.NONE) {
            gap = Gap.POSSIBLE;
        }
    }

    /** Whether no new sequence may be given yet. */
    boolean mayHaveGap() {
        return gap != Gap.NONE || given.failureOrNull() != null;
    }

    /** Whether nothing may be sent before {@link #restart}. */
    boolean hasGap() {
        return gap == Gap.CERTAIN;
    }

    void onGap() {
        gap = Gap.CERTAIN;
    }

    /** Every batch has its outcome: the broker waits for a missing sequence if the last one was not acknowledged. */
    void onAllDecided() {
        if (gap == Gap.POSSIBLE) {
            gap = nextAcknowledged == next ? Gap.NONE : Gap.CERTAIN;
        }
    }

    static int after(int sequence, int count) {
        return (sequence + count) & Integer.MAX_VALUE; // wraps to 0 after 2^31 - 1
    }
}
