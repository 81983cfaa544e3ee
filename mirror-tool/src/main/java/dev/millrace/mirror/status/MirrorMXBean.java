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

    /** That the target has acknowledged. */
    long getRecords();

    /** Of these records, as they were sent. */
    long getBytes();

    /** Of whole batches of the source to be copied, as it has them compressed; 0 if Kafka's consumer reads them. */
    long getFetchedBytes();

    /** Of whole batches sent to the target, as they are compressed there. */
    long getWrittenBytes();

    long getInFlightRecords();

    /** The producer's memory in use. */
    long getInFlightBytes();

    long getLagRecords();

    /** Whether the lag is that of all partitions; if not, there are at least so many records. */
    boolean isLagKnown();

    /** Of the partition that is the most behind; NaN if it is not known. */
    double getLagSeconds();

    /** Until it has caught up, if its lag goes on to fall as in the last minute; 0 if it has; NaN if this cannot be told. */
    double getCatchUpSeconds();

    /** By topic and partition. */
    Map<String, Long> getLagOfPartitions();

    /** Half of the records took no longer than this from the source's timestamp to the target's acknowledgement. */
    double getLatencyMedianSeconds();

    /** Of 100 records, 99 took no longer. */
    double getLatency99thPercentileSeconds();

    /** How many partitions stall, by cause. */
    Map<String, Long> getStalledPartitions();

    /** For how long partitions have stalled, added up, by cause. */
    Map<String, Double> getStallSeconds();
}
