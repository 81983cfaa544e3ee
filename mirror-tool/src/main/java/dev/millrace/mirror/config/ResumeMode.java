package dev.millrace.mirror.config;

import java.util.Locale;

/** What a mirror does about records that a process has written without committing its progress. */
public enum ResumeMode {
    /** It finds these records on the target and does not write them again ({@code ExactResume}). */
    EXACT,
    /** Readers of committed records see none: records and progress are one transaction ({@code TargetGroupMember}). */
    EXACTLY_ONCE,
    /** It writes them again. */
    AT_LEAST_ONCE;

    /** Returns the name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
