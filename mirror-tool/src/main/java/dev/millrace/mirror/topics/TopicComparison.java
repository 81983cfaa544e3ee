package dev.millrace.mirror.topics;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.common.KafkaFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of settings of the target's topics that make its records differ from the source's, once for each topic.
 *
 * <p><b>Threads:</b> one at a time.
 */
final class TopicComparison {
    private static final Logger LOG = LoggerFactory.getLogger(TopicComparison.class);

    private final Admin source;
    private final CopiesOnTarget copies;
    private final Set<String> compared = new HashSet<>();

    TopicComparison(Admin source, CopiesOnTarget copies) {
        this.source = source;
        this.copies = copies;
    }

    /** Compares topics that both clusters have. */
    void compare(Collection<String> topics) {
        Set<String> asked = new TreeSet<>(topics);
        asked.removeIf(topic -> !compared.add(topic));
        Set<String> stamped = new TreeSet<>();
        for (List<String> batch : Clusters.batches(asked)) {
            Map<String, Config> here = read(Clusters.topicConfigs(source, batch));
            read(copies.configs(batch)).forEach((topic, there) -> {
                if (here.containsKey(topic)) {
                    warnIfCleanupDiffers(topic, here.get(topic), there);
                }
                if (TopicSettings.isStampedByBroker(there)) {
                    stamped.add(topic);
                }
            });
        }
        if (!stamped.isEmpty()) {
            LOG.warn(
                    "The target replaces the timestamps of records by the time at which they are written there, because"
                            + " message.timestamp.type is LogAppendTime, in {}: {}. Set CreateTime there to keep them",
                    Words.count(stamped.size(), "topic"),
                    stamped);
        }
    }

    private static Map<String, Config> read(Map<String, KafkaFuture<Config>> answers) {
        Map<String, Config> configs = new TreeMap<>();
        for (Map.Entry<String, KafkaFuture<Config>> answer : answers.entrySet()) {
            try {
                configs.put(answer.getKey(), Clusters.await(answer.getValue()));
            } catch (ExecutionException e) {
                LOG.info(
                        "Cannot compare the settings of topic {}: {}",
                        answer.getKey(),
                        MirrorException.reason(e.getCause()));
            }
        }
        return configs;
    }

    /** A target that deletes by age or size what the source compacts would lose records. */
    private static void warnIfCleanupDiffers(String topic, Config source, Config target) {
        Set<String> here = TopicSettings.cleanupPolicies(source);
        Set<String> there = TopicSettings.cleanupPolicies(target);
        if (!here.equals(there)) {
            LOG.warn(
                    "Topic {} has cleanup.policy {} on the source, but {} on the target, which may delete what the"
                            + " source keeps, or keep what it deletes",
                    topic,
                    here,
                    there);
        }
    }
}
