package dev.millrace.mirror.pass;

/**
 * Why a batch was opened instead of passed. Each reason has a counter in {@link BatchCounters}.
 *
 * <p>A transactional batch is not opened for that reason. An aborted one is skipped; a committed one is passed, and the
 * producer's raw API clears its transactional bit. Opened or passed, its records become visible at the target one batch
 * after the other.
 */
public enum OpenReason {
    /** It is in format v0 or v1, which no producer may send to a broker of Kafka 4. */
    OLD_FORMAT,
    /** It has no records left; only its header remains, which moves the position. */
    EMPTY,
    /** The position is in the middle of it because the target already has its first records. */
    RESUME_INSIDE,
    /** Its header has attributes or a codec unknown here, so its records are read as a consumer reads them. */
    UNKNOWN_ATTRIBUTES,
    /** It has the time after which its tombstones may be deleted; only a broker may set that. */
    DELETE_HORIZON,
    /**
     * Its records have the time of the source's broker, while their own bytes still contain the producer's. A target
     * with LogAppendTime is no reason: its broker overwrites the time in any case.
     */
    LOG_APPEND_TIME,
    /** Compaction removed records, so its offsets and count do not match; a broker refuses that from a producer. */
    GAPS,
    /** The target needs another codec; opening the batch here saves the target's broker from compressing it again. */
    TARGET_CODEC,
    /** It is larger than the target accepts. */
    TOO_LARGE,
    /** The user asked for records. */
    RECORDS_MODE,
    /** Merging it with others costs less than the target's work for one more batch. */
    SMALL
}
