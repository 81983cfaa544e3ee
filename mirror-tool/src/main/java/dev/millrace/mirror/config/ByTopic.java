package dev.millrace.mirror.config;

import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * A value for each topic.
 *
 * @param ofTopics the first whose pattern matches a topic's whole name applies
 * @param ofOthers applies to topics that no pattern matches
 */
public record ByTopic<T>(List<OfTopics<T>> ofTopics, T ofOthers) {
    /** The value for topics whose whole name matches. */
    public record OfTopics<T>(Pattern topics, T value) {}

    public ByTopic {
        ofTopics = List.copyOf(ofTopics);
    }

    /** Returns the same value for all topics. */
    public static <T> ByTopic<T> ofAll(T value) {
        return new ByTopic<>(List.of(), value);
    }

    /** Whether this is true of each value, whatever the topic. */
    public boolean all(Predicate<T> condition) {
        return condition.test(ofOthers)
                && ofTopics.stream().map(OfTopics::value).allMatch(condition);
    }

    public T of(String topic) {
        return ofTopics.stream()
                .filter(next -> next.topics().matcher(topic).matches())
                .map(OfTopics::value)
                .findFirst()
                .orElse(ofOthers);
    }
}
