package dev.millrace.mirror.status;

/**
 * What this process has done for one partition, and its lag.
 *
 * @param isOwned whether this process copies it at present; if not, only the counts are meaningful
 * @param records that the target has acknowledged
 * @param bytes of these records, as they were sent
 * @param inFlight records that were sent and are not acknowledged
 * @param lagRecords offsets of the source that the target has not acknowledged; negative if it is not known
 * @param lagSeconds the largest possible age of the oldest record that the target lacks; NaN if it is not known
 * @param stallOrNull why nothing more can be written at the moment
 * @param latency from the source's timestamp to the target's acknowledgement
 */
public record PartitionStatus(
        String topic,
        int partition,
        boolean isOwned,
        long records,
        long bytes,
        long inFlight,
        long lagRecords,
        double lagSeconds,
        StallCause stallOrNull,
        LatencyCounts latency) {
    /** Adds two statuses: of one partition by two threads, or of two partitions, whose number is then meaningless. */
    public PartitionStatus plus(PartitionStatus other) {
        return new PartitionStatus(
                topic,
                partition,
                isOwned || other.isOwned,
                records + other.records,
                bytes + other.bytes,
                inFlight + other.inFlight,
                lagRecords < 0 || other.lagRecords < 0
                        ? Math.max(lagRecords, other.lagRecords)
                        : lagRecords + other.lagRecords,
                maxKnown(lagSeconds, other.lagSeconds),
                stallOrNull == null ? other.stallOrNull : stallOrNull,
                latency.plus(other.latency));
    }

    private static double maxKnown(double one, double other) {
        return Double.isNaN(one) ? other : Double.isNaN(other) ? one : Math.max(one, other);
    }
}
