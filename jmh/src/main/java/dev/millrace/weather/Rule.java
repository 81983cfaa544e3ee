package dev.millrace.weather;

import java.util.Locale;

/** What a run is judged by. Each rule counts how often it was broken. */
enum Rule {
    /** Records that the source has, and the target has not. */
    LOST,
    /** Further copies that nothing allows. */
    DOUBLED,
    /** Records out of order that nothing allows. */
    REORDERED,
    /** Records of the target that the source never had in this partition, or only before the mirror's start. */
    CHANGED,
    /** Records of the target that the source has in aborted transactions only. */
    ABORTED_READ,
    /** Partitions with batches of another codec than the source's. */
    RECODED,
    /** Records that were deleted from the source before they were copied, and that no mirror has named. */
    UNNAMED,
    /** Records that a consumer group would neither see on the source nor on the target. */
    SKIPPED,
    /** Records that a consumer group would see on both, though no process was killed. */
    SEEN_AGAIN,
    /** Offsets of a consumer group that were set back on the target. */
    SET_BACK,
    /** Topics that have other settings on the target, though the mirror is to keep them. */
    OTHER_SETTINGS,
    /** Partitions that were not copied, committed and readable in time. */
    STUCK,
    /** Processes that do not say that they are ready when all is copied. */
    UNREADY,
    /** Threads and open files that a process has more than it had in the calm, and more than it may need. */
    LEAKED,
    /** Lines in which a password or a token was printed. */
    TOLD_SECRET,
    /** Processes and commands that ended by themselves, with a wrong exit code, or too late. */
    EXIT;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
