package dev.millrace.client.io;

import dev.millrace.client.accumulator.FinishedBatch;

/**
 * What transactions mean for the partitions of one I/O thread.
 *
 * <p><b>Threads:</b> that I/O thread.
 */
interface TransactionShare {
    /** Used by a producer without transactions. */
    TransactionShare NONE = new TransactionShare() {
        @Override
        public boolean isTransactional() {
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
        public void onFailed(FinishedBatch batch) {}

        @Override
        public void enforcePhase(Drainer drainer) {}

        @Override
        public boolean isReadyToEnd() {
            return true;
        }
    };

    boolean isTransactional();

    /**
     * Returns true if batches of the partition may be sent; otherwise requests it, and the partition is handed over
     * when they may.
     */
    boolean tryAdmit(PartitionState partition);

    /** Whether open batches are sent now, regardless of {@code linger.ms}. */
    boolean isUrgent();

    /** A batch was not written, or may not have been. */
    void onFailed(FinishedBatch batch);

    /**
     * Fails batches that must not be sent in the transaction's phase, and notes whether all records have their outcome.
     */
    void enforcePhase(Drainer drainer);

    /** Whether no transaction needs the thread of a closing producer any more. */
    boolean isReadyToEnd();
}
