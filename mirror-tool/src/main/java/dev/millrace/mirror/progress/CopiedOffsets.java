package dev.millrace.mirror.progress;

import dev.millrace.mirror.pass.AckedRuns;
import java.util.Collection;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * Receives from a member the offsets of its records at the target. Costs nothing if nobody needs them.
 *
 * <p><b>Threads:</b> any; nothing here blocks.
 */
public interface CopiedOffsets {
    /** Ignores everything; used when nobody needs the offsets. */
    CopiedOffsets NONE = new CopiedOffsets() {};

    /**
     * Returns the receiver of another member. A member that was away may give up a partition after another member of the
     * process has begun it; that does not count.
     */
    default CopiedOffsets ofAnotherMember() {
        return this;
    }

    /**
     * The member starts copying a partition that it owns from this source position.
     *
     * @param topicId of the source topic; zero if unknown
     * @return receives what is acknowledged until the next call for this partition
     */
    default AckedRuns begin(TopicPartition partition, Uuid topicId, long position) {
        return AckedRuns.IGNORED;
    }

    /** Records of the partition are copied without being reported here, until it begins again. */
    default void suspend(TopicPartition partition) {}

    /** The mirror's group has committed these positions, so what was acknowledged before them counts. */
    default void onCommitted(Map<TopicPartition, OffsetAndMetadata> positions) {}

    /** The member no longer owns these partitions. */
    default void giveUp(Collection<TopicPartition> partitions) {}
}
