package dev.millrace.mirror.status;

import java.util.Locale;

/** Why nothing more of a partition can be written at the moment. */
public enum StallCause {
    /** The target's partition is being created, or has no leader. */
    TARGET_NOT_READY,
    /** The target has not acknowledged anything for a while of what it was sent. */
    TARGET_SILENT,
    /** It has as much in flight as its share of the producer's memory. */
    IN_FLIGHT_FULL,
    /** The producer has no memory left. */
    BUFFER_FULL,
    /** It is assigned, and a cluster is asked where to begin. */
    STARTING,
    /** With exactly once: transactions go on without it for a while, because the target takes nothing of it. */
    LEFT_OUT,
    /** A record was refused, and is looked for. */
    REFUSED,
    /** {@code --on-gap}, {@code --on-target-lost} or {@code --on-refused} has stopped it. */
    STOPPED;

    /** As metrics and pages have it: {@code target-not-ready}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
