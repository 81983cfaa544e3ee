package dev.millrace.mirror.config;

import java.util.Locale;

/** What a mirror does with a partition when the source no longer has records that were not copied yet. */
public enum GapPolicy {
    /** It continues with the records that remain. */
    GO_ON,
    /** It copies nothing more of this partition; its last position remains committed. */
    STOP_PARTITION;

    /** Returns the name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
