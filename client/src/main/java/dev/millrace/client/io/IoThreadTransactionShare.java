package dev.millrace.client.io;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.io.TransactionFacts.Failed;
import dev.millrace.client.io.TransactionState.View;
import org.apache.kafka.common.errors.TransactionAbortedException;

/**
 * The share of one I/O thread in a producer's transactions.
 *
 * <p><b>Threads:</b> that thread, except {@link #isDone}, which the first I/O thread calls.
 * <p><b>Ordering:</b> {@code lastDone} is volatile. If it holds the transaction's number, every record of this share
 * has its outcome and nothing of it is in flight. That stays so: all sends have left the gate or can append
 * nothing, and no other can enter. The state was told of each failure before: whoever reads the number must read the
 * state afterwards.
 */
final class IoThreadTransactionShare implements TransactionShare {
    private final TransactionState state;
    private final TransactionPartitions partitions;
    private final Runnable wakeFirst;
    private volatile long lastDone;

    IoThreadTransactionShare(TransactionState state, TransactionPartitions partitions, Runnable wakeFirst) {
        this.state = state;
        this.partitions = partitions;
        this.wakeFirst = wakeFirst;
    }

    @Override
    public boolean isTransactional() {
        return true;
    }

    @Override
    public boolean tryAdmit(PartitionState partition) {
        if (state.facts().isExplicit()) {
            return partitions.tryAdmit(partition, state.view().number());
        }
        state.facts().noteContent();
        return true;
    }

    @Override
    public boolean isUrgent() {
        return state.view().phase().isCompleting();
    }

    @Override
    public void onFailed(FinishedBatch batch) {
        state.facts().noteContent(); // it may have failed before tryAdmit()
        if (batch.sequence() != FinishedBatch.NO_SEQUENCE) {
            state.facts().noteFailed(batch.isPossiblyWritten() ? Failed.PERHAPS_WRITTEN : Failed.NUMBERED);
        }
        state.onRecordFailed(batch.error());
    }

    @Override
    public void enforcePhase(Drainer drainer) {
        View view = state.view();
        if (view.phase() == TransactionPhase.FATAL_ERROR) {
            drainer.failAll(Long.MAX_VALUE, view.error());
        }
        if (lastDone == view.number()) {
            return; // it may have ended since the last call: unsent batches now belong to the next one
        }
        switch (view.phase()) {
            case ABORTABLE_ERROR -> drainer.failUnsent(view.error());
            case ABORTING -> drainer.failUnsent(new TransactionAbortedException());
            default -> {}
        }
        boolean open = view.phase() == TransactionPhase.IN_TRANSACTION && !state.isClosed();
        if (!open && state.hasAllSends() && drainer.isIdle()) {
            lastDone = view.number();
            wakeFirst.run();
        }
    }

    /** Whether every record of this share in the transaction has its outcome, and nothing of it is in flight. */
    boolean isDone(long transaction) {
        return lastDone == transaction;
    }

    @Override
    public boolean isReadyToEnd() {
        return !state.view().phase().isOngoing();
    }
}
