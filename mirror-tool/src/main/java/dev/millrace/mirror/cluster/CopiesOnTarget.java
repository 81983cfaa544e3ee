package dev.millrace.mirror.cluster;

import dev.millrace.mirror.config.TopicNames;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * Asks the target about copies of source topics. Questions and answers use the source names.
 *
 * <p><b>Threads:</b> any.
 */
public record CopiesOnTarget(Admin target, TopicNames names) {
    /** Does what {@link Clusters#describe} does. */
    public Map<String, TopicDescription> describe(Collection<String> topics) {
        return bySource(topics, Clusters.describe(target, onTarget(topics)));
    }

    /** Does what {@link Clusters#topicConfigs} does. */
    public Map<String, KafkaFuture<Config>> configs(Collection<String> topics) {
        return bySource(topics, Clusters.topicConfigs(target, onTarget(topics)));
    }

    /** Does what {@link Clusters#topicIds} does. */
    public Map<String, Uuid> ids(Collection<String> topics) {
        return bySource(topics, Clusters.topicIds(target, onTarget(topics)));
    }

    /** Does what {@link Clusters#existing} does. */
    public Set<TopicPartition> existing(Collection<TopicPartition> partitions) {
        return names.onSource(Clusters.existing(target, names.onTarget(partitions)));
    }

    /** Does what {@link Clusters#offsets} does. */
    public Map<TopicPartition, Long> offsets(Collection<TopicPartition> partitions, OffsetSpec which) {
        return offsets(partitions, which, IsolationLevel.READ_UNCOMMITTED);
    }

    /** Does what {@link Clusters#offsets} does. */
    public Map<TopicPartition, Long> offsets(
            Collection<TopicPartition> partitions, OffsetSpec which, IsolationLevel isolation) {
        return names.onSource(Clusters.offsets(target, names.onTarget(partitions), which, isolation));
    }

    /** Does what {@link Clusters#offsetsOfLed} does. */
    public Map<TopicPartition, Long> offsetsOfLed(Collection<TopicPartition> partitions, OffsetSpec which) {
        return names.onSource(Clusters.offsetsOfLed(target, names.onTarget(partitions), which));
    }

    private Set<String> onTarget(Collection<String> topics) {
        return topics.stream().map(names::onTarget).collect(Collectors.toSet());
    }

    private <V> Map<String, V> bySource(Collection<String> topics, Map<String, V> byTarget) {
        Map<String, V> bySource = new HashMap<>();
        topics.forEach(topic -> {
            V value = byTarget.get(names.onTarget(topic));
            if (value != null) {
                bySource.put(topic, value);
            }
        });
        return bySource;
    }
}
