package dev.millrace.client.accumulator;

/** What is known of whether a batch is in its partition's log, by the answers to all of its attempts. */
public enum Evidence {
    /** No request has carried it. */
    NEVER_SENT,
    /** Each attempt was refused before the broker wrote anything, or its leader has said that it is not there. */
    UNWRITTEN,
    /** An attempt is unanswered, or its answer leaves open whether it wrote the batch. */
    UNKNOWN,
    /** A broker has acknowledged it. */
    ACKNOWLEDGED
}
