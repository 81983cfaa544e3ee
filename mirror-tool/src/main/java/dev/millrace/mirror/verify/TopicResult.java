package dev.millrace.mirror.verify;

import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * What was found in a topic.
 *
 * @param name what it is called on the target
 * @param isCompacted whether a cluster compacts it, so that the last record of each key was compared, not each record
 * @param partitions those that could be compared
 * @param problems why others could not be; each a sentence without its full stop
 */
public record TopicResult(
        String topic, String name, boolean isCompacted, List<PartitionResult> partitions, List<String> problems) {
    private static final int FIRST = 10;

    /** A number of all partitions. */
    public long sum(ToLongFunction<PartitionResult> number) {
        return partitions.stream().mapToLong(number).sum();
    }

    /** How many records have the fault. */
    public long count(Fault fault) {
        return sum(partition -> partition.faults().getOrDefault(fault, 0L));
    }

    /** The records with each fault that there is. */
    public Map<Fault, Long> faults() {
        Map<Fault, Long> faults = new EnumMap<>(Fault.class);
        for (Fault fault : Fault.values()) {
            if (count(fault) > 0) {
                faults.put(fault, count(fault));
            }
        }
        return faults;
    }

    /** The first differences, by partition. */
    public List<Difference> first() {
        return partitions.stream()
                .sorted(Comparator.comparing(PartitionResult::partition))
                .flatMap(partition -> partition.first().stream())
                .limit(FIRST)
                .toList();
    }

    /** Whether the timestamps of all partitions were compared. */
    public boolean areTimestampsCompared() {
        return partitions.stream().allMatch(PartitionResult::areTimestampsCompared);
    }
}
