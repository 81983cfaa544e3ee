package dev.millrace.mirror.config;

import dev.millrace.mirror.text.MirrorException;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What a mirror does with records that the target refuses, for each topic.
 *
 * @param ofTopics the first policy whose pattern matches a topic's whole name applies
 * @param ofOthers applies to topics that no pattern matches
 * @param deadLetterTopic the name of the topic for dead letters, in which {@link #TOPIC} stands for the topic that
 *     refuses the record
 */
public record RefusalPolicies(List<OfTopics> ofTopics, RefusalPolicy ofOthers, String deadLetterTopic) {
    /** Stands for the topic that refuses the record, by its name on the target. */
    public static final String TOPIC = "{topic}";

    /** Leaves room in the name for a hash. */
    private static final String SHORT_TOPIC = "any-short-topic";

    /** Stops the mirror at the first record that the target refuses, whatever its topic. */
    public static final RefusalPolicies STOP = new RefusalPolicies(List.of(), RefusalPolicy.STOP, TOPIC);

    /** The policy for topics whose whole name matches. */
    public record OfTopics(Pattern topics, RefusalPolicy policy) {}

    /** @throws MirrorException if the topic for dead letters would have no legal name */
    public RefusalPolicies {
        TopicNames.requireLegal(
                "--dead-letter-topic " + deadLetterTopic + ": ", deadLetterTopic.replace(TOPIC, SHORT_TOPIC));
        ofTopics = List.copyOf(ofTopics);
    }

    public RefusalPolicy of(String topic) {
        return ofTopics.stream()
                .filter(next -> next.topics().matcher(topic).matches())
                .map(OfTopics::policy)
                .findFirst()
                .orElse(ofOthers);
    }

    /** Whether any refused record stops the mirror. */
    public boolean isAlwaysStop() {
        return ofOthers == RefusalPolicy.STOP
                && ofTopics.stream().allMatch(next -> next.policy() == RefusalPolicy.STOP);
    }

    /** Returns the dead-letter topic of a topic; both names are those on the target. */
    public String deadLetterTopic(String topic) {
        String withoutTopic = deadLetterTopic.replace(TOPIC, "");
        int times = (deadLetterTopic.length() - withoutTopic.length()) / TOPIC.length();
        int longest = times == 0 ? topic.length() : (TopicNames.MAX_LENGTH - withoutTopic.length()) / times;
        return deadLetterTopic.replace(
                TOPIC, topic.length() <= longest ? topic : TopicNames.shortened(topic, topic, longest));
    }
}
