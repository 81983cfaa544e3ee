package dev.millrace.mirror.cli;

import dev.millrace.mirror.Clusters;
import dev.millrace.mirror.MirrorException;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** What {@code --topics} means. */
final class TopicPattern {
    /** No topic's name has a comma, so one between others separates patterns, unless it counts as in {@code x{1,3}}. */
    private static final String SEPARATOR = ",(?!\\d*})";

    private TopicPattern() {}

    /**
     * A pattern for the names of topics: a regular expression, or several with commas between them, as the older mirrors
     * take them.
     *
     * @throws MirrorException when it is none, with what the user has written
     */
    static Pattern parse(String topics) {
        if (topics.isBlank()) {
            throw invalid(topics, "it is empty");
        }
        try {
            // One character for one, so that an error is where the user sees it.
            Pattern unused = Pattern.compile(topics.replaceAll(SEPARATOR, "|"));
        } catch (PatternSyntaxException e) {
            throw invalid(topics, e.getDescription() + (e.getIndex() < 0 ? "" : " at character " + (e.getIndex() + 1)));
        }
        Pattern pattern = Pattern.compile(topics.strip().replaceAll("\\s*" + SEPARATOR + "\\s*", "|"));
        try {
            Pattern unused = Clusters.withoutInternal(pattern);
        } catch (PatternSyntaxException e) {
            throw invalid(topics, "a quotation or a comment in it does not end");
        }
        return pattern;
    }

    private static MirrorException invalid(String topics, String why) {
        return MirrorException.usage("--topics '" + topics + "': " + why
                + "; a Java regular expression is expected, such as orders or 'orders|logs-.*'");
    }
}
