package dev.millrace.mirror.refused;

import dev.millrace.mirror.config.RefusalPolicies;
import dev.millrace.mirror.config.RefusalPolicy;
import dev.millrace.mirror.status.RefusedRecordsMXBean;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs and counts records that the target refuses. The first of each topic is logged with its offset and cause, further
 * ones as a count, once a minute and at the end.
 *
 * <p><b>Threads:</b> any.
 */
public final class RefusedRecordReport implements RefusedRecordsMXBean, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RefusedRecordReport.class);
    private static final long REPEAT_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final RefusalPolicies policies;
    private final AtomicLong deadLettered = new AtomicLong();
    private final AtomicLong skipped = new AtomicLong();
    private final AtomicLong partitionsStopped = new AtomicLong();
    private final AtomicLong toldSingly = new AtomicLong();
    private final Set<String> toldTopics = ConcurrentHashMap.newKeySet();

    /** Used by {@link #report}, which one thread calls at a time. */
    private long toldInAll;

    private long lastReportNanos = System.nanoTime();

    public RefusedRecordReport(RefusalPolicies policies) {
        this.policies = policies;
    }

    RefusalPolicies policies() {
        return policies;
    }

    /** Returns whether the target will never write the record while it and the target's settings stay as they are. */
    public static boolean isRefusal(Throwable failure) {
        return isOfThisRecord(failure)
                || (failure instanceof KafkaException
                        && failure.getCause() != null
                        && isOfThisRecord(failure.getCause()));
    }

    /** Returns {@link #isRefusal}, but false if the broker refused only other records of the same batch. */
    static boolean isOfThisRecord(Throwable failure) {
        return failure instanceof RecordTooLargeException
                || failure instanceof RecordBatchTooLargeException
                || failure instanceof InvalidRecordException
                || failure instanceof InvalidTimestampException
                || failure instanceof CorruptRecordException;
    }

    /** Records from this offset on are in the dead-letter topic. */
    void onDeadLettered(TopicPartition partition, long offset, long records, String topic, Throwable cause) {
        deadLettered.addAndGet(records);
        tellFirst(partition, offset, records, "is written to " + topic + " instead", cause);
    }

    /** Records from this offset on were left out. */
    void onSkipped(TopicPartition partition, long offset, long records, Throwable cause) {
        skipped.addAndGet(records);
        tellFirst(partition, offset, records, "is skipped", cause);
    }

    private void tellFirst(TopicPartition partition, long offset, long records, String what, Throwable cause) {
        if (toldTopics.add(partition.topic())) {
            toldSingly.addAndGet(records);
            LOG.warn(
                    "Topic {} partition {} offset {} cannot be written to the target, and {}; more of this topic are"
                            + " counted and told once a minute. Cause: {}",
                    partition.topic(),
                    partition.partition(),
                    offset,
                    what,
                    MirrorException.reason(cause));
        }
    }

    void onPartitionStopped(TopicPartition partition, long offset, Throwable cause) {
        partitionsStopped.incrementAndGet();
        LOG.error(
                "Topic {} partition {} offset {} cannot be written to the target. The mirror stops this partition"
                        + " there, and goes on with all others; to go on after it, start the mirror with --on-refused"
                        + " {} or {}. Cause: {}",
                partition.topic(),
                partition.partition(),
                offset,
                RefusalPolicy.DEAD_LETTER,
                RefusalPolicy.SKIP,
                MirrorException.reason(cause));
    }

    /** Logs once a minute how many there were, if there were more than those logged singly. */
    public void reportEachMinute(long nowNanos) {
        if (nowNanos - lastReportNanos >= REPEAT_NANOS) {
            lastReportNanos = nowNanos;
            report();
        }
    }

    private void report() {
        long all = deadLettered.get() + skipped.get();
        if (all > Math.max(toldInAll, toldSingly.get())) {
            toldInAll = all;
            LOG.warn(
                    "So far {} could not be written to their topics on the target: {} are dead letters, {} were"
                            + " skipped",
                    Words.count(all, "record"),
                    deadLettered.get(),
                    skipped.get());
        }
    }

    @Override
    public long getRecordsDeadLettered() {
        return deadLettered.get();
    }

    @Override
    public long getRecordsSkipped() {
        return skipped.get();
    }

    @Override
    public long getPartitionsStopped() {
        return partitionsStopped.get();
    }

    /** Logs those that were not logged yet. To be called after the last record. */
    @Override
    public void close() {
        report();
    }
}
