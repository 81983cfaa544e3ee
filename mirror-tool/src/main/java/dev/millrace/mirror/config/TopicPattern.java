package dev.millrace.mirror.config;

import dev.millrace.mirror.text.MirrorException;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** Parses the values of {@code --topics}, {@code --exclude-topics} and {@code --groups}. */
public final class TopicPattern {
    /** Topic names contain no comma, so a comma separates expressions, unless it belongs to a {@code x{1,3}}. */
    private static final String SEPARATOR = ",(?!\\d*})";

    private TopicPattern() {}

    /**
     * Returns a pattern for the names of topics or groups, from one regular expression or from several separated by commas, as
     * MirrorMaker 1 takes them.
     *
     * @param option for messages
     * @throws MirrorException quoting the value, when an expression is wrong
     */
    public static Pattern parse(String option, String topics) {
        if (topics.isBlank()) {
            throw invalid(option, topics, "it is empty");
        }
        try {
            // Keeps the length, so that the position of an error is right for what the user typed.
            Pattern unused = Pattern.compile(topics.replaceAll(SEPARATOR, "|"));
        } catch (PatternSyntaxException e) {
            throw invalid(
                    option,
                    topics,
                    e.getDescription() + (e.getIndex() < 0 ? "" : " at character " + (e.getIndex() + 1)));
        }
        Pattern pattern = Pattern.compile(topics.strip().replaceAll("\\s*" + SEPARATOR + "\\s*", "|"));
        try {
            Pattern unused = InternalTopics.excludedFrom(pattern);
        } catch (PatternSyntaxException e) {
            throw invalid(option, topics, "a quotation or a comment in it does not end");
        }
        return pattern;
    }

    /** Returns the pattern changed so that it does not match names that the other matches. */
    public static Pattern without(Pattern topics, Pattern excluded) {
        return Pattern.compile("(?!(?:" + excluded.pattern() + ")\\z)(?:" + topics.pattern() + ")");
    }

    private static MirrorException invalid(String option, String topics, String why) {
        return MirrorException.usage(option + " '" + topics + "': " + why
                + "; a Java regular expression is expected, such as orders or 'orders|logs-.*'");
    }
}
