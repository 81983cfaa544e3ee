package dev.millrace.mirror.cutover;

import java.util.Locale;

/** How much of the copies is compared with the source. */
public enum VerifyExtent {
    /** The last 1,000 records of each partition. */
    SAMPLE,
    WHOLE,
    NONE;

    /** Returns the name in lower case, as on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
