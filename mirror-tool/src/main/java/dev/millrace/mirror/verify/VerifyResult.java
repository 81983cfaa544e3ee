package dev.millrace.mirror.verify;

import dev.millrace.mirror.progress.MirrorPositions;
import java.util.List;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * What was found in all topics.
 *
 * @param positions positions of the mirror, before which the target must have everything
 * @param allowed faults that the mirror's promises allow
 */
public record VerifyResult(
        String sourceId, String targetId, MirrorPositions positions, List<TopicResult> topics, Set<Fault> allowed) {
    /** Whether the topic has a fault that is not allowed. */
    public boolean isDifferent(TopicResult topic) {
        return !allowed.containsAll(topic.faults().keySet());
    }

    /** Returns the topics with a fault that is not allowed. */
    public List<TopicResult> different() {
        return topics.stream().filter(this::isDifferent).toList();
    }

    /** Returns the topics of which a part could not be compared. */
    public List<TopicResult> unclear() {
        return topics.stream().filter(topic -> !topic.problems().isEmpty()).toList();
    }

    /** Adds up a number over all partitions of all topics. */
    public long sum(ToLongFunction<PartitionResult> number) {
        return topics.stream().mapToLong(topic -> topic.sum(number)).sum();
    }
}
