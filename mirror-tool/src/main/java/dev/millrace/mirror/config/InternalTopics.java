package dev.millrace.mirror.config;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Identifies topics in which Kafka and mirrors keep their own state. They are never mirrored. */
public final class InternalTopics {
    /** The name prefix of topics in which a mirror keeps where its records are. */
    public static final String OFFSET_MAP_PREFIX = "millrace-offsets.";

    /** The name prefix of topics in which a cutover keeps what it has done. */
    public static final String CUTOVER_PREFIX = "millrace-cutover.";

    private static final String SUFFIX = ".internal";

    /** The name prefixes of internal topics: Kafka's and a mirror's own. */
    static final List<String> BEGINNINGS = List.of("__", OFFSET_MAP_PREFIX, CUTOVER_PREFIX);
    /** Names and name prefixes of internal topics, including those of MirrorMaker 2. */
    private static final String INTERNAL =
            BEGINNINGS.stream().map(Pattern::quote).collect(Collectors.joining("|"))
                    + "|mm2.*\\.internal\\z|.*\\.checkpoints\\.internal\\z";

    private static final Pattern IS_INTERNAL = Pattern.compile(INTERNAL);

    private InternalTopics() {}

    /**
     * Returns the name of a topic of a mirror's group. Shortens and adapts the group's name: topic names allow fewer
     * characters, and are shorter.
     */
    public static String ofGroup(String prefix, String group) {
        int longest = TopicNames.MAX_LENGTH - prefix.length() - SUFFIX.length();
        String legal = group.replaceAll("[^a-zA-Z0-9._-]", "_");
        return prefix
                + (legal.equals(group) && legal.length() <= longest
                        ? group
                        : TopicNames.shortened(legal, group, longest))
                + SUFFIX;
    }

    /**
     * Returns the pattern changed so that it does not match internal topics: those whose names start with two
     * underscores, a mirror's own, and those in which MirrorMaker 2 keeps its state.
     */
    public static Pattern excludedFrom(Pattern topics) {
        return Pattern.compile("(?!" + INTERNAL + ")(?:" + topics.pattern() + ")", topics.flags());
    }

    /** Whether Kafka or a mirror keeps its state in a topic whose name is, or begins with, this. */
    static boolean isInternal(String name) {
        return IS_INTERNAL.matcher(name).lookingAt();
    }
}
