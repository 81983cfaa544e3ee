package dev.millrace.mirror.status;

import java.util.Map;

/** What JMX shows of a whole mirror; all counts are of this process, since the start of the mirror. */
public interface MirrorMXBean {
    /** {@code starting}, {@code running}, {@code stopping} or {@code failed}. */
    String getState();

    /** Why it does not mirror all its partitions at the moment; empty if it does. */
    String getObstacle();

    boolean isHealthy();

    boolean isReady();

    /** Records that the target has acknowledged. */
    long getRecords();

    /** Bytes of these records as they were sent. */
    long getBytes();

    /** Bytes of whole batches fetched from the source, as compressed there; 0 if Kafka's consumer reads them. */
    long getFetchedBytes();

    /** Bytes of whole batches sent to the target, as compressed there. */
    long getWrittenBytes();

    long getInFlightRecords();

    /** The amount of the producer's memory in use. */
    long getInFlightBytes();

    long getLagRecords();

    /** Whether the lag covers all partitions; if not, at least this many records are missing. */
    boolean isLagKnown();

    /** The lag of the partition that is furthest behind; NaN if it is not known. */
    double getLagSeconds();

    /** Seconds until it has caught up if its lag keeps falling as in the last minute; 0 if it has; NaN if unknown. */
    double getCatchUpSeconds();

    /** The lag of each topic and partition. */
    Map<String, Long> getLagOfPartitions();

    /** Half of the records took no longer than this from the source's timestamp to the target's acknowledgement. */
    double getLatencyMedianSeconds();

    /** Of 100 records, 99 took no longer. */
    double getLatency99thPercentileSeconds();

    /** How many partitions stall, by cause. */
    Map<String, Long> getStalledPartitions();

    /** How long partitions have stalled in total, by cause. */
    Map<String, Double> getStallSeconds();
}
