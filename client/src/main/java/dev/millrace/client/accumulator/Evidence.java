package dev.millrace.client.accumulator;

/** What the answers to all attempts tell about whether a batch is in its partition's log. */
public enum Evidence {
    /** No request has carried it. */
    NEVER_SENT,
    /**
     * Each attempt was refused before the broker wrote anything, or the leader has said that the batch is not there.
     */
    UNWRITTEN,
    /** An attempt is unanswered, or its answer leaves open whether it wrote the batch. */
    UNKNOWN,
    /** A broker has acknowledged it. */
    ACKNOWLEDGED
}
