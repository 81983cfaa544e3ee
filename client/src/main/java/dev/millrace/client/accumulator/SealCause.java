package dev.millrace.client.accumulator;

/** Why a batch was sealed. */
public enum SealCause {
    /** The next record did not fit. */
    FULL,
    /** The batch was open for {@code linger.ms}. */
    LINGER,
    /** The application called {@code flush}. */
    FLUSH,
    /** A thread waited for memory while the batch's broker was idle. */
    MEMORY,
    /** A whole batch was passed on after it. */
    PASSED,
    /** The producer was closed. */
    CLOSE,
    /** The batch had to fail: it expired, or the producer failed. */
    FAILURE
}
