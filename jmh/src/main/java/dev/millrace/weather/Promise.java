package dev.millrace.weather;

/** What the documentation promises of the copy of a topic; nothing is ever lost or changed. */
enum Promise {
    /** Each record once and in order. */
    EXACT,
    /** First copies are in order; records may be doubled, and last copies out of order. */
    AT_LEAST_ONCE,
    /** Records may be doubled and out of order. */
    ONLY_COMPLETE;

    /**
     * The promise of {@code docs/mirror.md}.
     *
     * @param wasFrozen whether a process was stopped until others took over, and went on
     * @param wereDeleted whether records were deleted from the source, with which a restarted mirror may compare
     * @param wasCopyDeleted whether the copy was: until the mirror notices, it writes to a new one what comes next
     */
    static Promise of(
            MirrorKind mirror, TopicKind topic, boolean wasFrozen, boolean wereDeleted, boolean wasCopyDeleted) {
        if (wasCopyDeleted) {
            return ONLY_COMPLETE;
        }
        if (mirror.isAtLeastOnce()) {
            return AT_LEAST_ONCE;
        }
        if (mirror.isExactlyOnce()) {
            return EXACT;
        }
        if (topic.isOld() && wasFrozen) {
            return ONLY_COMPLETE;
        }
        return wereDeleted || topic.hasStranger() ? AT_LEAST_ONCE : EXACT;
    }
}
