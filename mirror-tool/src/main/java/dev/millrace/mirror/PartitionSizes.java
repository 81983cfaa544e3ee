package dev.millrace.mirror;

import java.util.Collection;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/** How many bytes partitions have. */
@FunctionalInterface
interface PartitionSizes {
    PartitionSizes UNKNOWN = partitions -> Map.of();

    /** The bytes of those of the partitions of which they are known. */
    Map<TopicPartition, Long> of(Collection<TopicPartition> partitions);
}
