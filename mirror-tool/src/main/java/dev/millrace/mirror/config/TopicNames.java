package dev.millrace.mirror.config;

import dev.millrace.mirror.text.MirrorException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;

/**
 * Maps the names of the source's topics to those of their copies: unchanged, with a prefix, or a name given for the
 * single topic, which takes precedence. Everything that maps a topic to its copy, or back, asks this class. On the
 * {@link #reversed way back} a topic loses its prefix.
 *
 * <p>Two topics never get one name: given names differ, and a topic is {@link #refusalOf refused} if its name with the
 * prefix is given to another one. That depends only on the names, so all processes of a group decide alike, whichever
 * topic exists first.
 *
 * <p><b>Threads:</b> any; immutable.
 */
public final class TopicNames {
    /** Keeps the names of the source. */
    public static final TopicNames KEPT = new TopicNames("", "", Map.of());

    public static final int MAX_LENGTH = 249;
    private static final Pattern LEGAL = Pattern.compile("[a-zA-Z0-9._-]+");
    private static final Set<String> ILLEGAL = Set.of(".", "..");
    /** What prefixes usually end with. */
    private static final String SEPARATORS = "._-";

    /** What a topic without a given name begins with at the source; its copy begins with {@link #prefix} instead. */
    private final String removed;

    private final String prefix;
    private final Map<String, String> given;
    /** Source topics that have given names, keyed by those names. */
    private final Map<String, String> givenTo = new HashMap<>();

    private TopicNames(String removed, String prefix, Map<String, String> given) {
        this.removed = removed;
        this.prefix = prefix;
        this.given = Map.copyOf(given);
        given.forEach((topic, name) -> givenTo.put(name, topic));
    }

    /**
     * Returns names with a prefix, except for topics with given names.
     *
     * @param prefix before the name of each topic; may be empty
     * @param given names on the target by those on the source
     * @throws MirrorException naming the option and the value that is wrong
     */
    public static TopicNames of(String prefix, Map<String, String> given) {
        if (!prefix.isEmpty() && !LEGAL.matcher(prefix).matches()) {
            throw MirrorException.usage("--topic-prefix '" + prefix + "': it begins the names of topics, and may have"
                    + " letters, digits, '.', '_' and '-', such as 'eu.'");
        }
        if (InternalTopics.isInternal(prefix)) {
            throw MirrorException.usage("--topic-prefix '" + prefix + "': internal topics have such names; choose a"
                    + " prefix such as 'eu.'");
        }
        Map<String, String> givenTo = new HashMap<>();
        new TreeMap<>(given).forEach((topic, name) -> {
            String option = "--topic-name " + topic + "=" + name + ": ";
            requireLegal(option, topic);
            requireLegal(option, name);
            if (InternalTopics.isInternal(name)) {
                throw MirrorException.usage(option + "that is the name of an internal topic; choose another");
            }
            String other = givenTo.put(name, topic);
            if (other != null) {
                throw MirrorException.usage(option + "topic " + other + " has this name already, and their records"
                        + " would be mixed; choose another");
            }
        });
        return new TopicNames("", prefix, given);
    }

    /** Returns the names that the copies get when they are mirrored back: those of the source. */
    public TopicNames reversed() {
        return new TopicNames(prefix, removed, givenTo);
    }

    /** Returns a pattern for the names of the copies of those topics that this pattern matches and that are mirrored. */
    public Pattern ofCopies(Pattern topics) {
        if (areKept()) {
            return topics;
        }
        Pattern mirrored = withoutRefused(InternalTopics.excludedFrom(topics));
        List<String> copies = new ArrayList<>();
        givenTo.forEach((name, topic) -> {
            if (mirrored.matcher(topic).matches()) {
                copies.add("(?-ix:" + Pattern.quote(name) + ")");
            }
        });
        // Names are compared exactly, whatever flags the pattern has.
        copies.add("(?-ix:" + Pattern.quote(prefix) + notOneOf(given.keySet()) + ")(?:" + mirrored.pattern() + ")");
        return Pattern.compile(String.join("|", copies), topics.flags());
    }

    /** Returns an expression that matches the empty text, except where one of these names follows to the end. */
    private static String notOneOf(Collection<String> names) {
        return names.isEmpty()
                ? ""
                : "(?!(?:" + names.stream().sorted().map(Pattern::quote).collect(Collectors.joining("|")) + ")\\z)";
    }

    static void requireLegal(String option, String name) {
        if (!LEGAL.matcher(name).matches() || ILLEGAL.contains(name) || name.length() > MAX_LENGTH) {
            throw MirrorException.usage(option + "'" + name + "' is no name of a topic, which has up to " + MAX_LENGTH
                    + " letters, digits, '.', '_' and '-', and is not '.' or '..'");
        }
    }

    /**
     * Returns as much of a name as fits into this many characters together with a hash of {@code whole}, which
     * distinguishes it from others with the same beginning.
     */
    public static String shortened(String name, String whole, int length) {
        String hash = "-" + Integer.toHexString(whole.hashCode());
        return name.substring(0, Math.min(name.length(), length - hash.length())) + hash;
    }

    /** Whether all topics have the same names on both clusters. */
    public boolean areKept() {
        return removed.isEmpty() && prefix.isEmpty() && given.isEmpty();
    }

    /** Returns the topics for which names are given. */
    public Set<String> given() {
        return given.keySet();
    }

    // ---- from the source to the target ----

    /** Returns the name on the target of a source topic. */
    public String onTarget(String topic) {
        String name = given.get(topic);
        if (name != null) {
            return name;
        }
        boolean isChanged = !removed.equals(prefix) && topic.startsWith(removed);
        return isChanged ? prefix + topic.substring(removed.length()) : topic;
    }

    /** Returns the partition of the target to which a partition of the source is copied. */
    public TopicPartition onTarget(TopicPartition partition) {
        return areKept() ? partition : new TopicPartition(onTarget(partition.topic()), partition.partition());
    }

    public Set<TopicPartition> onTarget(Collection<TopicPartition> partitions) {
        return partitions.stream().map(this::onTarget).collect(Collectors.toSet());
    }

    /** Returns the same values by partitions of the target. */
    public <V> Map<TopicPartition, V> onTarget(Map<TopicPartition, V> bySource) {
        Map<TopicPartition, V> byTarget = new HashMap<>();
        bySource.forEach((partition, value) -> byTarget.put(onTarget(partition), value));
        return byTarget;
    }

    /** Returns both names, or the one that the topic has on both clusters, for a user. */
    public String describe(String topic) {
        return describe(topic, "");
    }

    /** Does the same with a suffix added to both names. */
    public String describe(String topic, String suffix) {
        String name = onTarget(topic);
        return topic + suffix + (name.equals(topic) ? "" : " -> " + name + suffix);
    }

    // ---- from the target to the source ----

    /** Returns the source topic whose copy has this name on the target; empty if none can have it. */
    public Optional<String> onSource(String name) {
        String topic = givenTo.get(name);
        if (topic == null && name.startsWith(prefix)) {
            topic = removed + name.substring(prefix.length());
            if (topic.equals(removed) || given.containsKey(topic)) {
                return Optional.empty();
            }
        }
        return Optional.ofNullable(topic);
    }

    public Optional<TopicPartition> onSource(TopicPartition partition) {
        return areKept()
                ? Optional.of(partition)
                : onSource(partition.topic()).map(topic -> new TopicPartition(topic, partition.partition()));
    }

    /** Returns the source partitions of those of the partitions that belong to copies. */
    public Set<TopicPartition> onSource(Collection<TopicPartition> partitions) {
        Set<TopicPartition> found = new HashSet<>();
        partitions.forEach(partition -> onSource(partition).ifPresent(found::add));
        return found;
    }

    /** Returns the same values by partitions of the source; leaves out partitions that belong to no copy. */
    public <V> Map<TopicPartition, V> onSource(Map<TopicPartition, V> byTarget) {
        Map<TopicPartition, V> bySource = new HashMap<>();
        byTarget.forEach((partition, value) -> onSource(partition).ifPresent(source -> bySource.put(source, value)));
        return bySource;
    }

    // ---- topics that cannot be mirrored ----

    /**
     * Returns the topics of which this one may be a copy that other mirrors have made from this mirror's copy: {@code
     * b.a.x} for {@code x} with the prefix {@code a.}. It is such a copy if the source has one of them. Prefixes that
     * end with a letter or a digit could be found in any name, so with those the list is empty. A name that is given
     * for the topic says that it is no such copy.
     */
    public List<String> mayHaveComeRoundFrom(String topic) {
        List<String> origins = new ArrayList<>();
        boolean isEndKnown = !prefix.isEmpty() && SEPARATORS.indexOf(prefix.charAt(prefix.length() - 1)) >= 0;
        if (isEndKnown && !given.containsKey(topic)) {
            for (int at = topic.indexOf(prefix); at >= 0; at = topic.indexOf(prefix, at + 1)) {
                String origin = topic.substring(at + prefix.length());
                boolean isWholePrefix = at == 0 || SEPARATORS.indexOf(topic.charAt(at - 1)) >= 0;
                if (isWholePrefix && !origin.isEmpty() && !given.containsKey(origin)) {
                    origins.add(origin);
                }
            }
        }
        return origins;
    }

    /** Returns why a topic that has come round is not mirrored; a sentence without its full stop. */
    public String refusalOfCircle(String topic, String origin) {
        return "Topic " + topic + " looks like this mirror's own copy " + onTarget(origin) + " of topic " + origin
                + ", brought back to the source by other mirrors; as " + onTarget(topic)
                + " it would go round once more, and so on without end. Leave it out with --exclude-topics, or, if it is no"
                + " such copy, give it a name with --topic-name " + topic + "=NAME";
    }

    /** Returns why a source topic cannot have its name on the target; a sentence without its full stop. */
    public Optional<String> refusalOf(String topic) {
        if (areKept() || given.containsKey(topic)) {
            return Optional.empty();
        }
        if (!topic.startsWith(removed)) {
            return Optional.of("Topic " + topic + " is no copy of this mirror, whose copies begin with " + removed);
        }
        String name = onTarget(topic);
        String would = "Topic " + topic + " would be " + name + " on the target, ";
        if (givenTo.containsKey(name)) {
            return Optional.of(would + "which --topic-name gives to topic " + givenTo.get(name)
                    + ", and their records would be mixed; give it another name with --topic-name " + topic
                    + "=NAME, or leave it out with --exclude-topics");
        }
        if (name.length() > MAX_LENGTH) {
            return Optional.of(would + "which is longer than the " + MAX_LENGTH + " characters that Kafka allows; give"
                    + " it another name with --topic-name " + topic + "=NAME, or leave it out with --exclude-topics");
        }
        if (InternalTopics.BEGINNINGS.stream().anyMatch(name::startsWith)) {
            return Optional.of(would + "which is the name of an internal topic; choose another --topic-prefix");
        }
        return Optional.empty();
    }

    /** Returns the pattern changed so that it matches no refused topic. */
    Pattern withoutRefused(Pattern topics) {
        if (areKept()) {
            return topics;
        }
        List<String> refused = new ArrayList<>();
        for (String name : new TreeSet<>(givenTo.keySet())) {
            if (name.startsWith(prefix)) {
                refused.add(Pattern.quote(removed + name.substring(prefix.length())) + "\\z");
            }
        }
        if (!removed.isEmpty()) {
            refused.add("(?!" + Pattern.quote(removed) + ")");
        }
        refused.add(".{" + (MAX_LENGTH + 1 - prefix.length() + removed.length()) + ",}");
        for (String beginning : InternalTopics.BEGINNINGS) {
            if (beginning.startsWith(prefix)) {
                refused.add(Pattern.quote(removed + beginning.substring(prefix.length())));
            }
        }
        return Pattern.compile(
                // Names are compared exactly, whatever flags the pattern has.
                "(?-ix:(?!" + notOneOf(given.keySet()) + "(?:" + String.join("|", refused) + ")))(?:" + topics.pattern()
                        + ")",
                topics.flags());
    }

    @Override
    public String toString() {
        return "prefix '" + prefix + (removed.isEmpty() ? "" : "' instead of '" + removed) + "', names "
                + new TreeMap<>(given);
    }
}
