package dev.millrace.mirror.status;

/** What JMX shows of {@code RefusedRecordReport}; all counts are since the start of the mirror. */
public interface RefusedRecordsMXBean {
    /** Records that are in a dead-letter topic instead of their topic on the target. */
    long getRecordsDeadLettered();

    /** Records that are nowhere on the target. */
    long getRecordsSkipped();

    /** Partitions that are no longer copied, because {@code --on-refused} says so. */
    long getPartitionsStopped();
}
