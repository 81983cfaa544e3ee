package dev.millrace.client.accumulator;

/** Why a batch took no further record. */
public enum SealCause {
    /** The next record did not fit. */
    FULL,
    /** It had waited for {@code linger.ms}. */
    LINGER,
    /** Somebody flushed. */
    FLUSH,
    /** A thread waited for memory while the batch's broker had nothing to do. */
    MEMORY,
    /** The producer was closed. */
    CLOSE,
    /** It had to fail: out of time, or with the producer. */
    FAILURE
}
