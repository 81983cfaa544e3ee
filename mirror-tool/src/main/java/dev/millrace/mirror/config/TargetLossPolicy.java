package dev.millrace.mirror.config;

import java.util.Locale;

/** What a mirror does with a partition when what it had copied of it is gone from the target. */
public enum TargetLossPolicy {
    /** Copies all that the source has once more. */
    COPY_AGAIN,
    /** Copies nothing more of this partition; its last position stays committed. */
    STOP_PARTITION,
    /** Copies what comes after its last position. */
    GO_ON;

    /** The name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
