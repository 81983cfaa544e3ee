package dev.millrace.mirror.status;

import java.util.Locale;

/** Why nothing more of a partition can be written at the moment. */
public enum StallCause {
    /** The target's partition is being created, or has no leader. */
    TARGET_NOT_READY,
    /** The target has acknowledged nothing for a while of what was sent to it. */
    TARGET_SILENT,
    /** The partition has its full share of the producer's memory in flight. */
    IN_FLIGHT_FULL,
    /** The producer has no memory left. */
    BUFFER_FULL,
    /** The partition is assigned, and a cluster is being asked where to begin. */
    STARTING,
    /**
     * With exactly once: transactions continue without the partition for a while, because the target accepts nothing
     * for it.
     */
    LEFT_OUT,
    /** A record was refused and is being searched for. */
    REFUSED,
    /** {@code --on-gap}, {@code --on-target-lost} or {@code --on-refused} has stopped it. */
    STOPPED;

    /** Returns the form used in metrics and pages, such as {@code target-not-ready}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
