package dev.millrace.mirror.control;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Which topics are paused and throttled at one moment. It keeps rules rather than topic names, so that they also apply
 * to topics that appear or are assigned later.
 *
 * @param throttleOfAll bytes per second of all topics together, or {@link ByteRate#NONE}
 */
public record ControlState(List<TopicRule<Boolean>> pauses, List<TopicRule<Long>> throttles, long throttleOfAll) {
    public static final ControlState NONE = new ControlState(List.of(), List.of(), ByteRate.NONE);

    private static final Pattern ALL = Pattern.compile(".*", Pattern.DOTALL);

    /** Returns the state with these topics paused or resumed; without topics, with all of them. */
    ControlState withPaused(Optional<Pattern> topics, boolean isPaused) {
        List<TopicRule<Boolean>> former = topics.isPresent() ? pauses : List.of();
        List<TopicRule<Boolean>> rules = TopicRule.add(former, new TopicRule<>(topics.orElse(ALL), isPaused));
        return new ControlState(
                rules.stream().anyMatch(TopicRule::value) ? rules : List.of(), throttles, throttleOfAll);
    }

    /** Returns the state with a throttle for each of these topics; without topics, for all together. */
    ControlState withThrottle(Optional<Pattern> topics, long bytesPerSecond) {
        if (topics.isEmpty()) {
            return new ControlState(pauses, throttles, bytesPerSecond);
        }
        List<TopicRule<Long>> rules = TopicRule.add(throttles, new TopicRule<>(topics.get(), bytesPerSecond));
        boolean isAny = rules.stream().anyMatch(rule -> rule.value() != ByteRate.NONE);
        return new ControlState(pauses, isAny ? rules : List.of(), throttleOfAll);
    }

    public boolean isPaused(String topic) {
        return TopicRule.find(pauses, topic, false);
    }

    /** Returns the limit of this topic alone, besides {@link #throttleOfAll}, or {@link ByteRate#NONE}. */
    public long throttleOf(String topic) {
        return TopicRule.find(throttles, topic, ByteRate.NONE);
    }

    /**
     * Describes the state in one line, such as {@code paused: orders|pay.*; throttle: 10 MB/s for logs-.*}; empty if
     * there is nothing to say.
     */
    public String describe() {
        String paused = pauses.stream()
                .map(rule -> (rule.value() ? "" : "not ") + nameOf(rule.topics()))
                .collect(Collectors.joining(", then "));
        String throttled = throttles.stream()
                .map(rule -> ByteRate.describe(rule.value()) + " for each of " + nameOf(rule.topics()))
                .collect(Collectors.joining(", then "));
        if (throttleOfAll != ByteRate.NONE) {
            throttled = ByteRate.describe(throttleOfAll) + " for all together" + (throttled.isEmpty() ? "" : ", ")
                    + throttled;
        }
        return (paused.isEmpty() ? "" : "paused: " + paused)
                + (paused.isEmpty() || throttled.isEmpty() ? "" : "; ")
                + (throttled.isEmpty() ? "" : "throttle: " + throttled);
    }

    private static String nameOf(Pattern topics) {
        return topics.pattern().equals(ALL.pattern()) ? "all topics" : topics.pattern();
    }
}
