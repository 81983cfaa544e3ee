package dev.millrace.mirror.pass;

/**
 * What has become of a batch at the target.
 *
 * <p><b>Threads:</b> any.
 * <p><b>Ordering:</b> a thread that sees {@link #isDone} also sees the failure.
 */
public interface Outcome {
    /** Whether the batch is acknowledged or has failed for good. Once true it stays true. */
    boolean isDone();

    /** Why the batch failed; null if it is acknowledged. Not to be asked before it is done. */
    Throwable failureOrNull();

    /** How many of its first records the target has nevertheless. Not to be asked before it has failed. */
    int acknowledgedBeforeFailure();

    /** When it was, in milliseconds of {@link System#currentTimeMillis}. Not to be asked before it is done. */
    long doneAtMs();

    /** The target offset of one of its records, or -1 if it is not known. Not to be asked before it is acknowledged. */
    long offsetOf(int record);
}
