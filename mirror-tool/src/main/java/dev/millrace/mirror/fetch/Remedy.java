package dev.millrace.mirror.fetch;

/** What to do about a broker's answer for one partition. */
public enum Remedy {
    /** It is no error. */
    NONE,
    /** Ask the same broker again, after a pause. */
    ASK_AGAIN,
    /** Ask for metadata: this broker does not lead the partition (any more), or not in this epoch. */
    FIND_LEADER,
    /** As {@link #FIND_LEADER}, and tell the sink: it may last, as when the topic was deleted. */
    TELL_AND_ASK_AGAIN,
    /** The position is outside the log. */
    RESET_OFFSET,
    /** It will not get better. */
    STOP
}
