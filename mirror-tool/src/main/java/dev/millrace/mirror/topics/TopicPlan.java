package dev.millrace.mirror.topics;

import dev.millrace.mirror.text.Words;
import java.util.List;

/**
 * What a mirror would do about one topic.
 *
 * @param partitions of the source
 * @param onTarget partitions of the target; 0 if the topic is to be created
 * @param records offsets that the source holds, which bounds the number of records
 * @param toMirror those of them that are after the mirror's position
 * @param notes what an operator should know, each a sentence without its full stop
 * @param isPossible whether the mirror can do it
 */
public record TopicPlan(
        String topic,
        int partitions,
        int onTarget,
        long records,
        long toMirror,
        List<String> notes,
        boolean isPossible) {
    public static TopicPlan refused(String topic, String why) {
        return new TopicPlan(topic, 0, 0, 0, 0, List.of(why), false);
    }

    /** Whether the target has all partitions already. */
    public boolean isThere() {
        return onTarget >= partitions;
    }

    /** Describes the change to the target. */
    public String change() {
        if (onTarget == 0) {
            return "create, " + Words.count(partitions, "partition");
        }
        return !isThere() ? "grow from " + onTarget + " to " + Words.count(partitions, "partition") : "none";
    }
}
