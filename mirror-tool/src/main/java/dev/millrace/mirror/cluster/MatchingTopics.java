package dev.millrace.mirror.cluster;

import dev.millrace.mirror.config.InternalTopics;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;

/**
 * The source's topics that {@code --topics} matches.
 *
 * @param mirrored those that can be mirrored
 * @param refused why others cannot have their names on the target; each a sentence without its full stop
 */
public record MatchingTopics(Set<String> mirrored, Map<String, String> refused) {
    private static final int SHOWN_NAMES = 5;

    /**
     * Asks the source.
     *
     * @throws MirrorException when no topic matches
     */
    public static MatchingTopics ask(Admin source, MirrorConfig config) {
        Set<String> all =
                new TreeSet<>(Clusters.awaitUnchecked(source.listTopics().names()));
        MatchingTopics found = of(all, config);
        if (found.mirrored.isEmpty() && found.refused.isEmpty()) {
            String names = all.stream().limit(SHOWN_NAMES).collect(Collectors.joining(", "));
            String some = all.isEmpty()
                    ? " (if it has ACLs, the mirror sees only topics on which it has Read)"
                    : ": " + names + (all.size() > SHOWN_NAMES ? ", ..." : "");
            throw MirrorException.temporary("--topics '" + config.topics() + "' matches none of the source's "
                    + Words.count(all.size(), "topic") + some + "; it must match a whole name");
        }
        return found;
    }

    public static MatchingTopics of(Set<String> all, MirrorConfig config) {
        Set<String> mirrored = new TreeSet<>(all);
        mirrored.removeIf(
                InternalTopics.excludedFrom(config.topics()).asMatchPredicate().negate());
        Map<String, String> refused = new TreeMap<>();
        mirrored.forEach(topic -> config.names().refusalOf(topic).ifPresent(why -> refused.put(topic, why)));
        mirrored.removeAll(refused.keySet());
        return new MatchingTopics(mirrored, refused);
    }

    /**
     * Returns these, if some topic can be mirrored.
     *
     * @throws MirrorException when none can
     */
    public MatchingTopics requireSome() {
        if (mirrored.isEmpty()) {
            throw MirrorException.failed(refused.values().iterator().next());
        }
        return this;
    }
}
