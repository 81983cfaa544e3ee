package dev.millrace.client.io;

import dev.millrace.client.accumulator.FinishedBatch;

/**
 * What transactions mean for the partitions of one I/O thread.
 *
 * <p><b>Threads:</b> that I/O thread's.
 */
interface TransactionShare {
    /** Of a producer without transactions. */
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

    /** Whether batches of the partition may be sent; if not, it comes up again as soon as they may. */
    boolean tryAdmit(PartitionState partition);

    /** Whether open batches go now, whatever {@code linger.ms} says. */
    boolean isUrgent();

    /** A batch was not written, or may not have been. */
    void onFailed(FinishedBatch batch);

    /** Fails what the transaction's state forbids to send, and notes whether everything has its outcome. */
    void enforcePhase(Drainer drainer);

    /** Whether the thread of a closing producer is not needed any more. */
    boolean isReadyToEnd();
}
