package dev.millrace.mirror.config;

import java.util.Locale;

/** What a mirror does about records that a process has written and whose progress it has not committed. */
public enum ResumeMode {
    /** It finds out from the target which these are, and leaves them out ({@code ExactResume}). */
    EXACT,
    /** There are none to a reader of committed records: records and progress are one transaction ({@code TargetGroupMember}). */
    EXACTLY_ONCE,
    /** It writes them again. */
    AT_LEAST_ONCE;

    /** As on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
