package dev.millrace.mirror.progress;

import dev.millrace.mirror.pass.AckedRuns;
import java.util.Collection;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * Is told by the members where their records are at the target. What nobody wants to know costs nothing.
 *
 * <p><b>Threads:</b> any; nothing here blocks.
 */
public interface CopiedOffsets {
    /** For who does not want to know. */
    CopiedOffsets NONE = new CopiedOffsets() {};

    /**
     * A member copies a partition, which it owns, from this source position on.
     *
     * @param topicId of the source topic; zero if unknown
     * @return is to be told what is acknowledged, until the next call for this partition
     */
    default AckedRuns begin(TopicPartition partition, Uuid topicId, long position) {
        return AckedRuns.IGNORED;
    }

    /** Records of the partition are copied of which nothing is told, until it begins again. */
    default void suspend(TopicPartition partition) {}

    /** The mirror's group has gone on to these positions: what was acknowledged before them counts. */
    default void onCommitted(Map<TopicPartition, OffsetAndMetadata> positions) {}

    /** The member no longer owns these partitions. */
    default void giveUp(Collection<TopicPartition> partitions) {}
}
