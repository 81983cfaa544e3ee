package dev.millrace.mirror.cli;

import dev.millrace.mirror.config.ByTopic;
import dev.millrace.mirror.text.MirrorException;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import picocli.CommandLine.TypeConversionException;

/**
 * A value of an option that may be given several times, as {@code [REGEX=]VALUE}.
 *
 * @param topicsOrNull matches the whole names of the topics that it is for; null for all others
 */
record ForTopics<T>(Pattern topicsOrNull, T value) {
    /**
     * @param parse parses what follows the last {@code =}
     * @throws TypeConversionException when what precedes it is no regular expression
     */
    static <T> ForTopics<T> parse(String text, Function<String, T> parse) {
        int end = text.lastIndexOf('=');
        String last = text.substring(end + 1);
        T value = parse.apply(last);
        try {
            return new ForTopics<>(end < 0 ? null : Pattern.compile(text.substring(0, end)), value);
        } catch (PatternSyntaxException e) {
            throw new TypeConversionException("expected a Java regular expression before '=" + last + "', not '"
                    + text.substring(0, end) + "': " + e.getDescription());
        }
    }

    /**
     * Returns all that was given.
     *
     * @param otherwise for topics that nothing was given for
     * @param name of a value, as it is given
     * @throws MirrorException naming the option, if more than one value is for all topics
     */
    static <T> ByTopic<T> all(String option, List<ForTopics<T>> given, T otherwise, Function<T, String> name) {
        List<T> ofOthers = given.stream()
                .filter(next -> next.topicsOrNull() == null)
                .map(ForTopics::value)
                .toList();
        if (ofOthers.size() > 1) {
            String second = name.apply(ofOthers.get(1));
            throw MirrorException.usage(option + " " + name.apply(ofOthers.get(0)) + " and " + second
                    + ": only one may be without the topics for which it is, such as 'logs-.*=" + second + "'");
        }
        return new ByTopic<>(
                given.stream()
                        .filter(next -> next.topicsOrNull() != null)
                        .map(next -> new ByTopic.OfTopics<>(next.topicsOrNull(), next.value()))
                        .toList(),
                ofOthers.isEmpty() ? otherwise : ofOthers.get(0));
    }
}
