package dev.millrace.mirror.config;

import java.util.Locale;

/** What a mirror does with a partition when the target has lost its copy. */
public enum TargetLossPolicy {
    /** It copies everything that the source has again. */
    COPY_AGAIN,
    /** It copies nothing more of this partition; its last position remains committed. */
    STOP_PARTITION,
    /** It copies what comes after its last position. */
    GO_ON;

    /** Returns the name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
