package dev.millrace.mirror.config;

import java.util.Collection;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/** How many bytes partitions have. */
@FunctionalInterface
public interface PartitionSizes {
    PartitionSizes UNKNOWN = partitions -> Map.of();

    /** The bytes of those of the partitions of which they are known. */
    Map<TopicPartition, Long> of(Collection<TopicPartition> partitions);

    /** These sizes by the names that copies of the topics have. */
    default PartitionSizes ofCopies(TopicNames names) {
        return copies -> names.onTarget(of(names.onSource(copies)));
    }
}
