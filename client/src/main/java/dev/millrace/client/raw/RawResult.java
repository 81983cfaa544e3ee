package dev.millrace.client.raw;

/**
 * The outcome of a batch that was passed on, or to which a record was appended. All records of a batch share the same
 * result object. If the batch was split, this stands for all of its parts.
 *
 * <p><b>Threads:</b> any; nothing here blocks.
 */
public interface RawResult {
    /** Whether each record of the batch is acknowledged or has failed. */
    boolean isDone();

    /**
     * Returns why the batch failed once it {@link #isDone}, or null if it is acknowledged. If records or parts have
     * different reasons, returns the first one; a record without a reason is acknowledged only if nothing of its batch
     * or part failed.
     *
     * @throws IllegalStateException it is not done yet
     */
    RuntimeException failureOrNull();

    /**
     * Returns how many of the failed batch's first records are acknowledged nevertheless; more than none only if it was
     * split.
     *
     * @throws IllegalStateException it is not done yet, or has not failed
     */
    int acknowledgedBeforeFailure();

    /**
     * Returns, once it {@link #isDone}, when the last record of the batch was acknowledged or failed, in milliseconds
     * of {@link System#currentTimeMillis}.
     */
    long doneAtMs();

    /**
     * Returns, once the batch is acknowledged, the offset of one of its records at the target, or -1 if the broker has
     * not told it, as with {@code acks=0} or for a batch that it had accepted long before.
     *
     * @param record the record's number in the batch, from 0
     * @throws IllegalStateException it is not done yet
     */
    long offsetOf(int record);
}
