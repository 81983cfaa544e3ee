package dev.millrace.mirror.config;

import java.util.Locale;

/** What a mirror does with a record that the target refuses, or that cannot be read from the source. */
public enum RefusalPolicy {
    /** It stops; the record remains the next one to copy. */
    STOP,
    /** It copies nothing more of this partition; its position before the record remains committed. */
    STOP_PARTITION,
    /** It writes the record unchanged to a dead-letter topic on the target and continues after it. */
    DEAD_LETTER,
    /** It counts the record and continues after it. */
    SKIP;

    /** Returns the name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
