package dev.millrace.mirror.config;

import java.util.Collection;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/** Knows how many bytes partitions have. */
@FunctionalInterface
public interface PartitionSizes {
    PartitionSizes UNKNOWN = partitions -> Map.of();

    /** Returns the bytes of those of the partitions whose size is known. */
    Map<TopicPartition, Long> of(Collection<TopicPartition> partitions);

    /** Returns these sizes under the names that copies of the topics have. */
    default PartitionSizes ofCopies(TopicNames names) {
        return copies -> names.onTarget(of(names.onSource(copies)));
    }
}
