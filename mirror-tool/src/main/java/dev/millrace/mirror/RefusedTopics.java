package dev.millrace.mirror;

import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells of topics that appear while the mirror runs and cannot have their names on the target. They are not mirrored, and
 * all others are.
 *
 * <p><b>Threads:</b> one timer looks; any asks for their number.
 * <p><b>Ordering:</b> a volatile set, immutable once published.
 */
final class RefusedTopics {
    private static final Logger LOG = LoggerFactory.getLogger(RefusedTopics.class);
    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final MirrorConfig config;
    private volatile Set<String> refused = Set.of();
    private long lookedNanos = System.nanoTime();

    RefusedTopics(MirrorConfig config) {
        this.config = config;
    }

    /** Tells of names that are given to topics which the source does not have, or {@code --topics} does not match. */
    void tellOfNamesWithoutTopic(Collection<String> mirrored) {
        Set<String> unused = new TreeSet<>(config.names().given());
        unused.removeAll(mirrored);
        if (!unused.isEmpty()) {
            LOG.warn("--topic-name: no topic to mirror is called {} on the source", String.join(" or ", unused));
        }
    }

    /** Asks the source after an interval, if any topic may be refused. Blocks until it answers. */
    void lookIfDue(Admin source, long nowNanos) {
        if (config.names().areKept() || nowNanos - lookedNanos < INTERVAL_NANOS) {
            return;
        }
        lookedNanos = nowNanos;
        try {
            look(Clusters.awaitUnchecked(source.listTopics().names()));
        } catch (KafkaException e) {
            LOG.debug("Could not ask for the topics of the source; will try again", e);
        }
    }

    /** @param all topics of the source */
    void look(Set<String> all) {
        var found = MatchingTopics.of(all, config).refused();
        found.forEach((topic, why) -> {
            if (!refused.contains(topic)) {
                LOG.warn("{}. It is not mirrored; all others are", why);
            }
        });
        refused = Set.copyOf(found.keySet());
    }

    /** How many there are now. */
    int count() {
        return refused.size();
    }
}
