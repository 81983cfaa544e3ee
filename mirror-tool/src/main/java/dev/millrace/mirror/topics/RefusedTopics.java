package dev.millrace.mirror.topics;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.MatchingTopics;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.TopicNames;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs topics that cannot have their names on the target, either by the rules of {@link TopicNames} or because the
 * target refuses them. These topics are not mirrored; all others are.
 *
 * <p><b>Threads:</b> one timer looks; any thread calls the other methods.
 * <p><b>Ordering:</b> a volatile set, immutable once published, and a concurrent one.
 */
public final class RefusedTopics {
    private static final Logger LOG = LoggerFactory.getLogger(RefusedTopics.class);
    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final MirrorConfig config;
    private volatile Set<String> refused = Set.of();
    private final Set<String> refusedByTarget = ConcurrentHashMap.newKeySet();
    private long lookedNanos = System.nanoTime();

    public RefusedTopics(MirrorConfig config) {
        this.config = config;
    }

    /** Warns of names given to topics that the source lacks or that {@code --topics} does not match. */
    public void tellOfNamesWithoutTopic(Collection<String> mirrored) {
        Set<String> unused = new TreeSet<>(config.names().given());
        unused.removeAll(mirrored);
        if (!unused.isEmpty()) {
            LOG.warn("--topic-name: no topic to mirror is called {} on the source", String.join(" or ", unused));
        }
    }

    /** Asks the source once per interval if any topic may be refused. Blocks until it answers. */
    public void lookIfDue(Admin source, long nowNanos) {
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
        update(MatchingTopics.of(all, config));
    }

    /** Logs the topics that are newly refused. */
    public void update(MatchingTopics topics) {
        topics.refused().forEach((topic, why) -> {
            if (!refused.contains(topic)) {
                tell(why);
            }
        });
        refused = Set.copyOf(topics.refused().keySet());
    }

    /** The target has refused the topic because of its name. It may accept it once a conflicting topic is gone. */
    void onRefused(String topic, String why) {
        if (refusedByTarget.add(topic)) {
            tell(why);
        }
    }

    /** The target has accepted the topic. */
    void onTaken(String topic) {
        refusedByTarget.remove(topic);
    }

    private static void tell(String why) {
        LOG.warn("{}. The topic is not mirrored; all others are", why);
    }

    /** Whether the target has refused the topic. */
    public boolean isRefusedByTarget(String topic) {
        return refusedByTarget.contains(topic);
    }

    /** Returns how many topics are refused now. */
    public int count() {
        return refused.size() + refusedByTarget.size();
    }
}
