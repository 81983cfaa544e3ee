package dev.millrace.mirror.config;

import java.util.Locale;

/** What a mirror does with a partition of which it has not copied records that the source no longer has. */
public enum GapPolicy {
    /** Goes on with the records that there are. */
    GO_ON,
    /** Copies nothing more of this partition; its last position stays committed. */
    STOP_PARTITION;

    /** The name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
