package dev.millrace.client.raw;

/**
 * What became of a batch: one that was passed on, or the one to which a record was appended. All records of a batch
 * have the same result, the same object. If the batch was split, this stands for all of its parts.
 *
 * <p><b>Threads:</b> any; nothing here blocks.
 */
public interface RawResult {
    /** Whether each record of the batch is acknowledged or has failed. */
    boolean isDone();

    /**
     * Once it {@link #isDone}: why the batch failed, or null if it is acknowledged. Of several reasons, for some
     * records or for some parts, this is that of the first of them; a record for which there is none is acknowledged
     * only if nothing of its batch or part failed.
     *
     * @throws IllegalStateException it is not done yet
     */
    RuntimeException failureOrNull();

    /**
     * Once the batch has failed: how many of its first records are acknowledged nevertheless. More than none only if it
     * was split.
     *
     * @throws IllegalStateException it is not done yet, or has not failed
     */
    int acknowledgedBeforeFailure();

    /**
     * Once it {@link #isDone}: when the last record of the batch was acknowledged or failed, in milliseconds of {@link
     * System#currentTimeMillis}.
     */
    long doneAtMs();

    /**
     * Once the batch is acknowledged: the offset of one of its records at the target, or -1 if the broker has not told
     * it, as with {@code acks=0} or for a batch that it had taken long before.
     *
     * @param record its number in the batch, from 0
     * @throws IllegalStateException it is not done yet
     */
    long offsetOf(int record);
}
