package dev.millrace.mirror.resume;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.topics.TopicSettings;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.TopicConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knows which topics of the source are compacted.
 *
 * <p><b>Threads:</b> any.
 * <p><b>Ordering:</b> a concurrent map.
 */
final class CompactedTopics {
    private static final Logger LOG = LoggerFactory.getLogger(CompactedTopics.class);

    private final Admin source;
    /** Settings of the source's topics, each requested once, many at a time. */
    private final Map<String, KafkaFuture<Config>> settings = new ConcurrentHashMap<>();

    CompactedTopics(Admin source) {
        this.source = source;
    }

    /** Asks the source about the topics of these partitions. Does not block. */
    void askAbout(Collection<TopicPartition> partitions) {
        Set<String> unknown = Clusters.topics(partitions);
        unknown.removeAll(settings.keySet());
        Clusters.batches(unknown).forEach(batch -> settings.putAll(Clusters.topicConfigs(source, batch)));
    }

    /**
     * Returns whether the topic is compacted; true also if the source does not tell. Blocks until it has answered what
     * {@link #askAbout} asked.
     */
    boolean contains(String topic) {
        try {
            return TopicSettings.cleanupPolicies(Clusters.await(settings.get(topic)))
                    .contains(TopicConfig.CLEANUP_POLICY_COMPACT);
        } catch (ExecutionException e) {
            LOG.debug("Cannot read the settings of topic {}", topic, e);
            return true; // this is right in either case
        }
    }
}
