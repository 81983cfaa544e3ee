package dev.millrace.mirror.run;

import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.ResumeMode;
import dev.millrace.mirror.config.TargetLossPolicy;
import dev.millrace.mirror.progress.MirrorPositions;
import dev.millrace.mirror.run.ExpectedRefusals.Stretch;
import dev.millrace.mirror.text.Words;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.TopicPartition;

/**
 * What a plan says about records that the target has lost from the ends of its logs while the topics are the same. Only
 * progress of {@link ResumeMode#EXACT} shows it, because only that has offsets of the target.
 */
final class PlannedTails {
    private final TargetLossPolicy policy;
    private final Map<String, Long> lost = new HashMap<>();

    private PlannedTails(TargetLossPolicy policy) {
        this.policy = policy;
    }

    /**
     * Compares where the target ends with what is committed; blocks until the target has answered.
     *
     * @param there the topics that the target has, by the names that they have on the source
     * @param stretches to copy, which this changes to what the mirror will do
     */
    static PlannedTails find(
            MirrorConfig config,
            CopiesOnTarget copies,
            Map<String, TopicDescription> there,
            MirrorPositions positions,
            Map<TopicPartition, Stretch> stretches) {
        PlannedTails tails = new PlannedTails(config.policies().onTargetLost());
        if (config.mode().isFetching() && config.policies().resume() == ResumeMode.EXACT) {
            List<TopicPartition> same = stretches.keySet().stream()
                    .filter(partition ->
                            hasCopy(partition, Optional.ofNullable(there.get(partition.topic())), positions))
                    .toList();
            copies.offsetsOfLed(same, OffsetSpec.latest())
                    .forEach((partition, end) -> tails.add(partition, positions.lostTail(partition, end), stretches));
        }
        return tails;
    }

    private static boolean hasCopy(
            TopicPartition partition, Optional<TopicDescription> there, MirrorPositions positions) {
        return there.filter(topic -> topic.partitions().size() > partition.partition())
                        .isPresent()
                && !positions.isLost(partition, there);
    }

    private void add(TopicPartition partition, long records, Map<TopicPartition, Stretch> stretches) {
        if (records > 0) {
            lost.merge(partition.topic(), records, Long::sum);
            stretches.computeIfPresent(partition, (of, stretch) -> switch (policy) {
                case COPY_AGAIN -> new Stretch(Math.max(0, stretch.next() - records), stretch.end());
                case STOP_PARTITION -> new Stretch(stretch.end(), stretch.end());
                case GO_ON -> stretch;
            });
        }
    }

    void note(String topic, List<String> notes) {
        if (lost.containsKey(topic)) {
            notes.add("the target has lost the last " + Words.count(lost.get(topic), "record")
                    + " that it had acknowledged, at least; "
                    + switch (policy) {
                        case COPY_AGAIN -> "they are copied again";
                        case STOP_PARTITION -> "their partitions are stopped";
                        case GO_ON -> "only what comes next is copied";
                    }
                    + " (--on-target-lost " + policy + ")");
        }
    }
}
