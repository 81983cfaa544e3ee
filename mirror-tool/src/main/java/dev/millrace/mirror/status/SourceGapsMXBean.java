package dev.millrace.mirror.status;

/** What JMX shows of {@code SourceGaps}; all counts are since the start of the mirror. */
public interface SourceGapsMXBean {
    /** How often the source no longer had records that should have been read next. */
    long getGaps();

    /** The offsets skipped in these gaps, which bound the number of records. */
    long getRecordsSkipped();

    /** How often the source no longer had records that had already been read. */
    long getTruncations();

    /** The number of partitions that are no longer copied because {@code --on-gap} says so. */
    long getPartitionsStopped();
}
