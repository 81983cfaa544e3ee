package dev.millrace.client.delivery;

/**
 * Whether the brokers have a record whose delivery has ended. It tells whether sending the record again may duplicate
 * it, and whether not sending it again may lose it; an exception alone tells neither.
 *
 * <p>It holds for the moment at which the delivery ended, and within what {@code acks} promises: with {@code acks=1} a
 * persisted record is lost if the leader fails before a follower has the record.
 */
public enum DeliveryCertainty {
    /** No broker has the record: it was never sent, or each attempt was refused before the write. */
    NOT_PERSISTED,

    /**
     * The producer cannot know. An attempt ended without a response, or with one that does not decide it: the
     * connection was lost, the time ran out, or the leader changed or its replicas failed after the write. This is
     * always the case with {@code acks=0}, because brokers do not respond then.
     */
    POSSIBLY_PERSISTED,

    /** A broker has acknowledged the record. */
    PERSISTED
}
