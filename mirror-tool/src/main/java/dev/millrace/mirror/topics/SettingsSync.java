package dev.millrace.mirror.topics;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.text.MirrorException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives the target's topics the settings that they have on the source.
 *
 * <p><b>Threads:</b> one.
 */
final class SettingsSync {
    private static final Logger LOG = LoggerFactory.getLogger(SettingsSync.class);

    private final Set<String> excluded;
    private final Admin source;
    private final CopiesOnTarget copies;
    private final BiConsumer<String, String> problems;

    /**
     * @param excluded names of settings that the target keeps as they are
     * @param problems receives each failure with its topic, every time it occurs
     */
    SettingsSync(Set<String> excluded, Admin source, CopiesOnTarget copies, BiConsumer<String, String> problems) {
        this.excluded = excluded;
        this.source = source;
        this.copies = copies;
        this.problems = problems;
    }

    /**
     * Copies the settings of these topics; skips topics that either cluster lacks. Blocks while the clusters answer.
     */
    void run(Collection<String> topics) {
        Clusters.batches(topics).forEach(batch -> change(changes(batch)));
    }

    /** Returns what {@link #run} would change, by topic of the source. */
    Map<String, SettingsChanges> changes(Collection<String> topics) {
        Map<String, Config> here = read(Clusters.topicConfigs(source, topics));
        Map<String, SettingsChanges> changes = new TreeMap<>();
        read(copies.configs(here.keySet())).forEach((topic, there) -> {
            SettingsChanges wanted = SettingsChanges.between(here.get(topic), there, excluded);
            if (!wanted.isEmpty()) {
                changes.put(topic, wanted);
            }
        });
        return changes;
    }

    private Map<String, Config> read(Map<String, KafkaFuture<Config>> answers) {
        Map<String, Config> configs = new HashMap<>();
        answers.forEach((topic, answer) -> {
            try {
                configs.put(topic, Clusters.await(answer));
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof UnknownTopicOrPartitionException)) {
                    problems.accept(
                            topic,
                            "The settings of topic " + topic + " cannot be read: "
                                    + MirrorException.reason(e.getCause()));
                }
            }
        });
        return configs;
    }

    /** The target applies all changes of a topic or none, so changes that it refuses together are tried one by one. */
    private void change(Map<String, SettingsChanges> changes) {
        List<String> refused = new ArrayList<>();
        request(changes).forEach((topic, failure) -> {
            boolean isRefused =
                    failure instanceof InvalidConfigurationException || failure instanceof PolicyViolationException;
            if (isRefused && changes.get(topic).oneByOne().size() > 1) {
                refused.add(topic);
            } else {
                tell(topic, changes.get(topic), failure);
            }
        });
        for (String topic : refused) {
            for (SettingsChanges one : changes.get(topic).oneByOne()) {
                request(Map.of(topic, one)).forEach((same, failure) -> tell(topic, one, failure));
            }
        }
    }

    private void tell(String topic, SettingsChanges change, Throwable failure) {
        problems.accept(
                topic + change, // so that each change is logged once
                "Topic " + copies.names().describe(topic) + " on the target does not get the settings of the source, "
                        + change + ": " + MirrorException.reason(failure));
    }

    /** Returns why the changes of some topics have failed. */
    private Map<String, Throwable> request(Map<String, SettingsChanges> changes) {
        Map<String, Throwable> failures = new TreeMap<>();
        if (changes.isEmpty()) {
            return failures;
        }
        Map<ConfigResource, Collection<AlterConfigOp>> operations = new HashMap<>();
        changes.forEach((topic, change) -> operations.put(resource(topic), change.operations()));
        Map<ConfigResource, KafkaFuture<Void>> answers =
                copies.target().incrementalAlterConfigs(operations).values();
        changes.keySet().forEach(topic -> {
            try {
                Clusters.await(answers.get(resource(topic)));
                LOG.info(
                        "Topic {} on the target gets the settings of the source: {}",
                        copies.names().describe(topic),
                        changes.get(topic));
            } catch (ExecutionException e) {
                failures.put(topic, e.getCause());
            }
        });
        return failures;
    }

    private ConfigResource resource(String topic) {
        return new ConfigResource(ConfigResource.Type.TOPIC, copies.names().onTarget(topic));
    }
}
