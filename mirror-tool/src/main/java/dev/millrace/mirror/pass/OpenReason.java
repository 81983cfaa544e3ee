package dev.millrace.mirror.pass;

/**
 * Why a batch was opened instead of passed. Each has a counter in {@link BatchCounters}.
 *
 * <p>That a batch belongs to a transaction is no reason. An aborted one is skipped; a committed one is passed, and the
 * producer's seam clears its transactional bit. Opened or passed, its records become visible at the target one batch
 * after the other.
 */
public enum OpenReason {
    /** It is in format v0 or v1, which no producer may send to a broker of Kafka 4. */
    OLD_FORMAT,
    /** It has no records any more; only its header is left, which moves the position. */
    EMPTY,
    /** The position is in the middle of it: the target has its first records already. */
    RESUME_INSIDE,
    /** Its header has attributes or a codec that are unknown here; the records are read as a consumer reads them. */
    UNKNOWN_ATTRIBUTES,
    /** It has the time after which its tombstones may go; only a broker may set that. */
    DELETE_HORIZON,
    /**
     * Its records have the time of the source's broker, while their own bytes still have the producer's. A target with
     * LogAppendTime is no reason: its broker writes its time over whatever a batch has.
     */
    LOG_APPEND_TIME,
    /** Compaction removed records, so that offsets and count do not fit; a broker refuses that from a producer. */
    GAPS,
    /** The target is to have another codec; opened here, so that the target's broker need not compress it again. */
    TARGET_CODEC,
    /** It is larger than the target takes. */
    TOO_LARGE,
    /** The user asked for records. */
    RECORDS_MODE,
    /** To merge it with others costs less than the target's work for one more batch. */
    SMALL
}
