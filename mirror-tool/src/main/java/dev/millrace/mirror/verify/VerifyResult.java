package dev.millrace.mirror.verify;

import dev.millrace.mirror.progress.MirrorPositions;
import java.util.List;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * What was found in all topics.
 *
 * @param positions of the mirror, before which the target must have all
 * @param allowed faults that the mirror's promises allow
 */
public record VerifyResult(
        String sourceId, String targetId, MirrorPositions positions, List<TopicResult> topics, Set<Fault> allowed) {
    /** Whether the topic has a fault that is not allowed. */
    public boolean isDifferent(TopicResult topic) {
        return !allowed.containsAll(topic.faults().keySet());
    }

    /** Topics with a fault that is not allowed. */
    public List<TopicResult> different() {
        return topics.stream().filter(this::isDifferent).toList();
    }

    /** Topics of which some could not be compared. */
    public List<TopicResult> unclear() {
        return topics.stream().filter(topic -> !topic.problems().isEmpty()).toList();
    }

    /** A number of all partitions of all topics. */
    public long sum(ToLongFunction<PartitionResult> number) {
        return topics.stream().mapToLong(topic -> topic.sum(number)).sum();
    }
}
