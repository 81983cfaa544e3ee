package dev.millrace.client.io;

/** The phases of a transactional producer. */
enum TransactionPhase {
    UNINITIALIZED,
    INITIALIZING,
    READY,
    IN_TRANSACTION,
    COMMITTING,
    ABORTING,
    /** The transaction can only be aborted. */
    ABORTABLE_ERROR,
    /** The producer can only be closed. */
    FATAL_ERROR;

    boolean isCompleting() {
        return this == COMMITTING || this == ABORTING;
    }

    boolean isError() {
        return this == ABORTABLE_ERROR || this == FATAL_ERROR;
    }

    /** Whether the coordinator must still be told the transaction's end. */
    boolean isOngoing() {
        return this == IN_TRANSACTION || this == ABORTABLE_ERROR || isCompleting();
    }
}
