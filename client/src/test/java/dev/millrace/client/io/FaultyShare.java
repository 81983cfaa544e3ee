package dev.millrace.client.io;

import dev.millrace.client.accumulator.FinishedBatch;

/** No transactions, but an {@code Error} where a test wants one. */
final class FaultyShare implements TransactionShare {
    /** After this many batches were stamped, stamping throws. */
    int stampsLeft = Integer.MAX_VALUE;

    /** How many times {@link #onFailed} throws. */
    int failuresToThrow;

    @Override
    public boolean isTransactional() {
        if (stampsLeft-- <= 0) {
            throw new InternalError("thrown on purpose");
        }
        return false;
    }

    @Override
    public boolean tryAdmit(PartitionState partition) {
        return true;
    }

    @Override
    public boolean isUrgent() {
        return false;
    }

    @Override
    public void onFailed(FinishedBatch batch) {
        if (failuresToThrow-- > 0) {
            throw new InternalError("thrown on purpose");
        }
    }

    @Override
    public void enforcePhase(Drainer drainer) {}

    @Override
    public boolean isReadyToEnd() {
        return true;
    }
}
