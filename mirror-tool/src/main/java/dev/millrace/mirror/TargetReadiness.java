package dev.millrace.mirror;

import java.util.Collection;
import org.apache.kafka.common.TopicPartition;

/** Makes sure that the target has the topics to write to. */
@FunctionalInterface
interface TargetReadiness {
    /**
     * Returns once the target has the partition.
     *
     * @throws MirrorException when a cluster refuses or does not answer
     */
    void ensure(TopicPartition partition);

    /** Does in few requests for many topics what {@link #ensure} does for one; leaves it to that to fail. */
    default void prepare(Collection<String> topics) {}
}
