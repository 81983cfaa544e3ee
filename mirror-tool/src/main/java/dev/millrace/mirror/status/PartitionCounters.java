package dev.millrace.mirror.status;

import dev.millrace.mirror.pass.AckListener;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.TopicPartition;

/**
 * Counts what one thread has copied of one partition, and its lag.
 *
 * <p><b>Threads:</b> the member's thread writes, once for each batch and once a second; any thread reads.
 * <p><b>Ordering:</b> none between the counters. Each is stored with release, so that the writer never waits.
 */
public final class PartitionCounters implements AckListener {
    private static final long UNKNOWN = -1;

    private final TopicPartition partition;
    private final AtomicLong records = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final LatencyHistogram latency = new LatencyHistogram();
    private final AtomicLong ackedTimestamp = new AtomicLong(UNKNOWN);
    private final AtomicLong lag = new AtomicLong(UNKNOWN);
    private final AtomicLong inFlight = new AtomicLong();
    private final AtomicLong caughtUpMs = new AtomicLong(UNKNOWN);
    private volatile StallCause stallOrNull;
    private volatile boolean isOwned;

    public PartitionCounters(TopicPartition partition) {
        this.partition = partition;
    }

    @Override
    public void onAcked(long moreRecords, long moreBytes, long timestamp, long ackedAtMs) {
        records.setRelease(records.getPlain() + moreRecords);
        bytes.setRelease(bytes.getPlain() + moreBytes);
        if (timestamp >= 0) {
            ackedTimestamp.setRelease(timestamp);
            latency.add(Math.max(0, ackedAtMs - timestamp), moreRecords); // negative if the clocks differ
        }
    }

    /**
     * Sets what is known about a partition that the thread owns.
     *
     * @param records of the source that the target has not acknowledged; negative if it is not known
     * @param sent those of them that were sent
     * @param causeOrNull why nothing more can be sent
     */
    public void onMeasured(long records, long sent, StallCause causeOrNull, long nowMs) {
        lag.setRelease(records);
        inFlight.setRelease(sent);
        if (records == 0) {
            caughtUpMs.setRelease(nowMs);
        }
        stallOrNull = causeOrNull;
        isOwned = true;
    }

    /** The thread owns the partition but does not copy it at the moment. */
    public void onStalled(StallCause cause) {
        stallOrNull = cause;
        inFlight.setRelease(0);
        isOwned = true;
    }

    /** The thread no longer owns the partition. */
    void onGivenUp() {
        isOwned = false;
        stallOrNull = null;
        inFlight.setRelease(0);
        lag.setRelease(UNKNOWN);
        caughtUpMs.setRelease(UNKNOWN);
    }

    public TopicPartition partition() {
        return partition;
    }

    public boolean isOwned() {
        return isOwned;
    }

    /** Returns the records that the target has acknowledged so far. */
    public long acked() {
        return records.getAcquire();
    }

    /** Returns the records that were sent and not acknowledged, as of about a second ago. */
    public long inFlight() {
        return inFlight.getAcquire();
    }

    /** Returns the records of the source that the target has not acknowledged; negative if unknown. */
    public long lag() {
        return lag.getAcquire();
    }

    /**
     * Returns why nothing more can be written, or null.
     *
     * @param silent partitions for which the target acknowledges nothing
     */
    public StallCause stallOrNull(Set<TopicPartition> silent) {
        StallCause cause = stallOrNull;
        // A silent target is the reason why so much is in flight.
        boolean isConsequence = cause == null || cause == StallCause.IN_FLIGHT_FULL || cause == StallCause.BUFFER_FULL;
        return isOwned && isConsequence && silent.contains(partition) ? StallCause.TARGET_SILENT : cause;
    }

    /** @param silent as in {@link #stallOrNull} */
    public PartitionStatus status(Set<TopicPartition> silent, long nowMs) {
        return new PartitionStatus(
                partition.topic(),
                partition.partition(),
                isOwned,
                records.getAcquire(),
                bytes.getAcquire(),
                inFlight.getAcquire(),
                lag.getAcquire(),
                lagSeconds(nowMs),
                stallOrNull(silent),
                latency.counts());
    }

    /**
     * Returns the largest possible age of what the target lacks: it is newer than what the target has, and than the
     * last moment when it had everything.
     */
    private double lagSeconds(long nowMs) {
        long left = lag.getAcquire();
        long since = Math.max(ackedTimestamp.getAcquire(), caughtUpMs.getAcquire());
        if (left == 0) {
            return 0;
        }
        return left < 0 || since < 0 ? Double.NaN : Math.max(0, nowMs - since) / 1e3;
    }
}
