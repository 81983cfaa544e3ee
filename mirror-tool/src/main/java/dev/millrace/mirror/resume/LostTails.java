package dev.millrace.mirror.resume;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.TargetLossPolicy;
import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import dev.millrace.mirror.text.Words;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Partitions of the target that end before the offset that was committed: the target has lost records that it had
 * acknowledged, by an unclean election or with a disk, and its topic is still the same. A mirror writes in order, so
 * what is before the last record that is left is there.
 *
 * <p><b>Threads:</b> any.
 */
final class LostTails {
    private static final Logger LOG = LoggerFactory.getLogger(LostTails.class);

    private final TargetLossPolicy policy;
    private final Admin source;

    LostTails(TargetLossPolicy policy, Admin source) {
        this.policy = policy;
        this.source = source;
    }

    /** @param end of the target */
    static boolean isLost(ResumePoint committed, long end) {
        return committed.lostTail(end) > 0;
    }

    /**
     * Returns the source offset of the first record that may be missing. Each lost record is one of the last before the
     * committed position, so it is before that by at least their number. Blocks until the source has answered.
     *
     * @param end of the target
     * @param afterLastCopy the source offset after the record whose copy is the target's last one, if it was found
     */
    long firstMissing(TopicPartition partition, ResumePoint committed, long end, OptionalLong afterLastCopy) {
        long first = Clusters.offsets(source, Set.of(partition), OffsetSpec.earliest())
                .get(partition);
        return firstMissing(committed, end, afterLastCopy, first);
    }

    /** @param first offset of the source */
    static long firstMissing(ResumePoint committed, long end, OptionalLong afterLastCopy, long first) {
        long atMost = committed.sourceOffset() - committed.lostTail(end);
        return Math.max(first, Math.min(afterLastCopy.orElse(first), atMost));
    }

    /** Returns what is done about them. */
    TargetLossPolicy policy() {
        return policy;
    }

    /** Logs what is missing, and what is done about it. */
    void tell(TopicPartition partition, ResumePoint committed, long end, long firstMissing) {
        LOG.warn(
                "Topic {} partition {}: the target has lost records that it had acknowledged: it ends at offset {}, and the"
                        + " committed one is {}. Offsets {} to {} of the source are missing there, {} at most. {}",
                partition.topic(),
                partition.partition(),
                end,
                committed.targetOffset(),
                firstMissing,
                committed.sourceOffset() - 1,
                Words.count(Math.max(0, committed.sourceOffset() - firstMissing), "record"),
                switch (policy) {
                    case COPY_AGAIN -> "The mirror copies them again";
                    case STOP_PARTITION ->
                        "The mirror stops this partition; start it with --on-target-lost " + TargetLossPolicy.COPY_AGAIN
                                + " to copy them again, or with " + TargetLossPolicy.GO_ON
                                + " to copy what comes next";
                    case GO_ON -> "The mirror goes on with what comes next";
                });
    }
}
