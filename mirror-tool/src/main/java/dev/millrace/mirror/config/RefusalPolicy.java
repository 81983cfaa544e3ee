package dev.millrace.mirror.config;

import java.util.Locale;

/** What a mirror does with a record that the target refuses, or that cannot be read from the source. */
public enum RefusalPolicy {
    /** Stops all; the record stays the next one to be copied. */
    STOP,
    /** Copies nothing more of this partition; its position before the record stays committed. */
    STOP_PARTITION,
    /** Writes the record, as it was, to a dead-letter topic on the target, and goes on after it. */
    DEAD_LETTER,
    /** Counts the record, and goes on after it. */
    SKIP;

    /** The name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
