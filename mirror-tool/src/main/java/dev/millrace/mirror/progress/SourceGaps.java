package dev.millrace.mirror.progress;

import dev.millrace.mirror.config.GapPolicy;
import dev.millrace.mirror.status.SourceGapsMXBean;
import dev.millrace.mirror.text.Words;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs and counts where the source's log no longer has a mirror's position: retention has overtaken the mirror, the log
 * was truncated, or the offset was never in it.
 *
 * <p><b>Threads:</b> any.
 */
public final class SourceGaps implements SourceGapsMXBean {
    private static final Logger LOG = LoggerFactory.getLogger(SourceGaps.class);

    private final GapPolicy policy;
    private final AtomicLong gaps = new AtomicLong();
    private final AtomicLong recordsSkipped = new AtomicLong();
    private final AtomicLong truncations = new AtomicLong();
    private final AtomicLong partitionsStopped = new AtomicLong();

    public SourceGaps(GapPolicy policy) {
        this.policy = policy;
    }

    /**
     * Reports that a partition's next position does not follow what was read.
     *
     * @param from the offset that should have been read next
     * @param to the offset from which the mirror may continue
     * @return whether to continue there; otherwise stop the partition
     */
    public boolean onMove(TopicPartition partition, long from, long to, String cause) {
        if (to > from) {
            gaps.incrementAndGet();
        } else {
            truncations.incrementAndGet();
        }
        boolean goesOn = policy == GapPolicy.GO_ON;
        String what = to > from
                ? String.format(
                        "Gap in topic %s partition %d: the source no longer has offsets %d to %d, %s at most, which are"
                                + " not on the target",
                        partition.topic(), partition.partition(), from, to - 1, Words.count(to - from, "record"))
                : String.format(
                        "Topic %s partition %d was truncated on the source: offset %d is no longer in it; the target has"
                                + " %s at most from offset %d on, which the source has lost or will be mirrored again",
                        partition.topic(), partition.partition(), from, Words.count(from - to, "record"), to);
        if (goesOn) {
            recordsSkipped.addAndGet(Math.max(0, to - from));
            LOG.warn("{}. The mirror goes on at offset {}. Cause: {}", what, to, cause);
        } else {
            partitionsStopped.incrementAndGet();
            LOG.error(
                    "{}. The mirror stops this partition at offset {}; to go on at offset {}, start it with --on-gap"
                            + " {}. Cause: {}",
                    what,
                    from,
                    to,
                    GapPolicy.GO_ON,
                    cause);
        }
        return goesOn;
    }

    @Override
    public long getGaps() {
        return gaps.get();
    }

    @Override
    public long getRecordsSkipped() {
        return recordsSkipped.get();
    }

    @Override
    public long getTruncations() {
        return truncations.get();
    }

    @Override
    public long getPartitionsStopped() {
        return partitionsStopped.get();
    }
}
