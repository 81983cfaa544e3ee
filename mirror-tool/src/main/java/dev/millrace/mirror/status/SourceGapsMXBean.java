package dev.millrace.mirror.status;

/** What JMX shows of {@code SourceGaps}; all counts are since the start of the mirror. */
public interface SourceGapsMXBean {
    /** How often the source no longer had records that were to be read next. */
    long getGaps();

    /** The offsets that were skipped in these gaps: so many records at most. */
    long getRecordsSkipped();

    /** How often the source no longer had records that were read already. */
    long getTruncations();

    /** Partitions that are no longer copied, because {@code --on-gap} says so. */
    long getPartitionsStopped();
}
