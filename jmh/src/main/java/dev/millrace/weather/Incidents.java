package dev.millrace.weather;

/**
 * What has happened to a topic and its mirror, of all that makes a difference to what is promised.
 *
 * @param wasFrozen whether a process was stopped until others took over, and went on
 * @param wasSetBack whether somebody set the mirror's group back
 * @param wereDeleted whether records were deleted from the source, with which a restarted mirror may compare
 * @param wasCopyDeleted whether the copy was: until the mirror notices, it writes to a new one what comes next
 * @param wasEndLost whether the source lost its last records, and gave their offsets to others
 */
record Incidents(
        boolean wasFrozen, boolean wasSetBack, boolean wereDeleted, boolean wasCopyDeleted, boolean wasEndLost) {
    static final Incidents NONE = new Incidents(false, false, false, false, false);
}
