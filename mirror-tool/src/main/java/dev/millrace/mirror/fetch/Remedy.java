package dev.millrace.mirror.fetch;

/** What to do about a broker's answer for one partition. */
public enum Remedy {
    /** There is no error. */
    NONE,
    /** Ask the same broker again, after a pause. */
    ASK_AGAIN,
    /** Ask for metadata: this broker does not lead the partition, or not in this epoch. */
    FIND_LEADER,
    /** Do the same as {@link #FIND_LEADER} and tell the sink: the error may last, as when the topic was deleted. */
    TELL_AND_ASK_AGAIN,
    /** The position is outside the log. */
    RESET_OFFSET,
    /** Stop: the error is permanent. */
    STOP
}
