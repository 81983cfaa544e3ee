package dev.millrace.mirror.cutover;

import dev.millrace.mirror.groups.FailoverPlan;
import dev.millrace.mirror.groups.OffsetMapReversal.Ends;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/**
 * What a cutover has found and done.
 *
 * @param sourceId the source's cluster id
 * @param targetId the target's cluster id
 * @param group of the mirror
 * @param steps how long each step took, in their order; without those that were not reached
 * @param cut where the logs of the source ended when all was copied; empty before that
 * @param turnedAt where both logs ended when the direction was turned, by partitions of the source; empty if it was not
 * @param groups where the groups go on that are moved; empty without {@code --groups}
 * @param compared how many records were the same in step 5, or in step 1 if that was not reached
 */
public record CutoverResult(
        String sourceId,
        String targetId,
        String group,
        Map<String, Duration> steps,
        Map<TopicPartition, Long> cut,
        Map<TopicPartition, Ends> turnedAt,
        List<FailoverPlan.Position> groups,
        long compared) {}
