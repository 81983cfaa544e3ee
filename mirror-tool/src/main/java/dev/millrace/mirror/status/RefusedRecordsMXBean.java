package dev.millrace.mirror.status;

/** What JMX shows of {@code RefusedRecordReport}; all counts are since the start of the mirror. */
public interface RefusedRecordsMXBean {
    /** The number of records that are in a dead-letter topic instead of their topic on the target. */
    long getRecordsDeadLettered();

    /** The number of records that are nowhere on the target. */
    long getRecordsSkipped();

    /** The number of partitions that are no longer copied because {@code --on-refused} says so. */
    long getPartitionsStopped();
}
