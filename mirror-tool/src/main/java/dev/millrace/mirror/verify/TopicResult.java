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
 * @param partitions results of the partitions that could be compared
 * @param problems why others could not be compared; each a sentence without its full stop
 */
public record TopicResult(
        String topic, String name, boolean isCompacted, List<PartitionResult> partitions, List<String> problems) {
    private static final int FIRST = 10;

    /** Adds up a number over all partitions. */
    public long sum(ToLongFunction<PartitionResult> number) {
        return partitions.stream().mapToLong(number).sum();
    }

    /** Returns how many records have the fault. */
    public long count(Fault fault) {
        return sum(partition -> partition.faults().getOrDefault(fault, 0L));
    }

    /** Returns the number of records for each fault that occurs. */
    public Map<Fault, Long> faults() {
        Map<Fault, Long> faults = new EnumMap<>(Fault.class);
        for (Fault fault : Fault.values()) {
            if (count(fault) > 0) {
                faults.put(fault, count(fault));
            }
        }
        return faults;
    }

    /** Returns the first differences, by partition. */
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
