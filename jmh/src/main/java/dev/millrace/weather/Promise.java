package dev.millrace.weather;

/** What the documentation promises of the copy of a topic; nothing is ever lost or changed. */
enum Promise {
    /** Each record once and in order. */
    EXACT,
    /** First copies are in order; records may be doubled, and last copies out of order. */
    AT_LEAST_ONCE,
    /** Records may be doubled and out of order. */
    ONLY_COMPLETE;

    /** The promise of {@code docs/mirror.md}. */
    static Promise of(MirrorKind mirror, TopicKind topic, Incidents incidents) {
        if (incidents.wasCopyDeleted() || incidents.wasEndLost()) {
            return ONLY_COMPLETE;
        }
        if (mirror.isExactlyOnce() && !incidents.wasSetBack()) {
            return EXACT;
        }
        if (topic.isCompacted()) {
            return ONLY_COMPLETE; // the target removes some first copies
        }
        if (mirror.isAtLeastOnce() || incidents.wasSetBack()) {
            return AT_LEAST_ONCE;
        }
        if (topic.isOld() && incidents.wasFrozen()) {
            return ONLY_COMPLETE;
        }
        return incidents.wereDeleted() || topic.hasStranger() ? AT_LEAST_ONCE : EXACT;
    }
}
