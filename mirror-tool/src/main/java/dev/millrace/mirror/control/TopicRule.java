package dev.millrace.mirror.control;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A rule for the topics whose whole name matches; later rules take precedence.
 *
 * @param value for a pause, whether they are paused; for a throttle, bytes per second
 */
public record TopicRule<T>(Pattern topics, T value) {
    /** Returns the rules with this one last; it replaces those with the same expression. */
    static <T> List<TopicRule<T>> add(List<TopicRule<T>> rules, TopicRule<T> last) {
        List<TopicRule<T>> all = new ArrayList<>(rules);
        all.removeIf(rule -> rule.topics.pattern().equals(last.topics.pattern()));
        all.add(last);
        return List.copyOf(all);
    }

    /** Returns the value of the last rule that matches. */
    static <T> T find(List<TopicRule<T>> rules, String topic, T otherwise) {
        for (int i = rules.size() - 1; i >= 0; i--) {
            if (rules.get(i).topics.matcher(topic).matches()) {
                return rules.get(i).value;
            }
        }
        return otherwise;
    }
}
