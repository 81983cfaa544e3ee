package dev.millrace.mirror;

import java.util.Locale;

/** What a mirror does about records that a former process has written and not committed. */
public enum ResumeMode {
    /** It finds out from the target which these are, and leaves them out ({@link ExactResume}). */
    EXACT,
    /** It writes them again. */
    AT_LEAST_ONCE;

    /** As on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
