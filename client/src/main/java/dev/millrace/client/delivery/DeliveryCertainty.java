package dev.millrace.client.delivery;

/**
 * What is known of a record when its delivery has ended: whether sending it again may double it, and whether not sending
 * it again may lose it. An exception alone does not tell.
 *
 * <p>It speaks of the moment when the delivery ended and of the promise that {@code acks} makes: with {@code acks=1} a
 * record that was persisted is lost with its leader.
 */
public enum DeliveryCertainty {
    /** It is proved that no broker has the record: it was never sent, or every attempt was refused before the write. */
    NOT_PERSISTED,

    /**
     * Nobody knows. An attempt ended without an answer, or with one that leaves it open: the connection was lost, the time
     * was up, the leader changed or its replicas failed after the write; or {@code acks=0}, with which brokers never
     * answer.
     */
    POSSIBLY_PERSISTED,

    /** A broker has acknowledged the record. */
    PERSISTED
}
