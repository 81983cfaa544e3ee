package dev.millrace.mirror.config;

import dev.millrace.mirror.text.MirrorException;

/**
 * What a mirror does with records that the target refuses, for each topic.
 *
 * @param deadLetterTopic the name of the topic for dead letters, in which {@link #TOPIC} stands for the topic that
 *     refuses the record
 */
public record RefusalPolicies(ByTopic<RefusalPolicy> policies, String deadLetterTopic) {
    /** Stands for the topic that refuses the record, by its name on the target. */
    public static final String TOPIC = "{topic}";

    /** Leaves room in the name for a hash. */
    private static final String SHORT_TOPIC = "any-short-topic";

    /** Stops the mirror at the first record that the target refuses, whatever its topic. */
    public static final RefusalPolicies STOP = new RefusalPolicies(ByTopic.ofAll(RefusalPolicy.STOP), TOPIC);

    /** @throws MirrorException if the topic for dead letters would have no legal name */
    public RefusalPolicies {
        TopicNames.requireLegal(
                "--dead-letter-topic " + deadLetterTopic + ": ", deadLetterTopic.replace(TOPIC, SHORT_TOPIC));
    }

    public RefusalPolicy of(String topic) {
        return policies.of(topic);
    }

    /** Whether any refused record stops the mirror. */
    public boolean isAlwaysStop() {
        return policies.all(policy -> policy == RefusalPolicy.STOP);
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
