package dev.millrace.mirror.topics;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.text.MirrorException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates topics on the target with settings of the source. A target that is older or has no remote storage refuses
 * some of them. The topic is then created without those, unless they decide which records the target deletes.
 *
 * <p><b>Threads:</b> any.
 */
public final class TopicCreator {
    private static final Logger LOG = LoggerFactory.getLogger(TopicCreator.class);

    private static final String DEFAULT_REPLICATION = "default.replication.factor";

    private final Admin target;
    /**
     * The target's default; used only if the target (before Kafka 2.4) requires a number of replicas for each topic.
     */
    private volatile Optional<Short> replication = Optional.empty();

    public TopicCreator(Admin target) {
        this.target = target;
    }

    /**
     * Creates a topic with the target's default replication, and returns the settings that the topic has.
     *
     * @throws ExecutionException when the topic exists, or cannot be created for a reason other than its settings
     * @throws MirrorException when the target refuses a setting that the topic cannot do without
     */
    public Map<String, String> create(String topic, int partitions, Map<String, String> settings)
            throws ExecutionException {
        try {
            send(topic, partitions, settings, false);
            return settings;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof PolicyViolationException) {
                throw refused(topic, settings, e.getCause());
            }
            if (!(e.getCause() instanceof InvalidConfigurationException)) {
                throw e;
            }
        }
        Map<String, String> accepted = findAccepted(topic, partitions, settings);
        send(topic, partitions, accepted, false);
        return accepted;
    }

    /**
     * Returns those of the settings with which the target would create the topic. Creates nothing.
     *
     * @throws ExecutionException as {@link #create}
     * @throws MirrorException as {@link #create}
     */
    public Map<String, String> findAcceptable(String topic, int partitions, Map<String, String> settings)
            throws ExecutionException {
        try {
            send(topic, partitions, settings, true);
            return settings;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof PolicyViolationException) {
                throw refused(topic, settings, e.getCause());
            }
            if (!(e.getCause() instanceof InvalidConfigurationException)) {
                throw e;
            }
        }
        return findAccepted(topic, partitions, settings);
    }

    /**
     * Returns all settings that the topic would have, with the defaults of the target's brokers; empty if the target
     * does not tell them. Creates nothing.
     */
    public Optional<Config> findSettings(String topic, int partitions, Map<String, String> settings) {
        NewTopic wanted = new NewTopic(topic, Optional.of(partitions), replication).configs(settings);
        try {
            return Optional.of(
                    Clusters.await(target.createTopics(List.of(wanted), new CreateTopicsOptions().validateOnly(true))
                            .config(topic)));
        } catch (ExecutionException e) {
            LOG.debug("The target does not tell the settings that topic {} would have", topic, e);
            return Optional.empty();
        }
    }

    /** Validates the topic with one more setting at a time, and returns those that the target accepts. */
    private Map<String, String> findAccepted(String topic, int partitions, Map<String, String> settings)
            throws ExecutionException {
        Map<String, String> accepted = new TreeMap<>();
        Map<String, Throwable> refused = new TreeMap<>();
        boolean grows = true;
        while (grows) { // A setting may be valid only together with another that is tried later.
            grows = false;
            refused.clear();
            for (Map.Entry<String, String> setting : settings.entrySet()) {
                if (accepted.putIfAbsent(setting.getKey(), setting.getValue()) != null) {
                    continue;
                }
                Throwable refusal = refusalOrNull(topic, partitions, accepted);
                if (refusal == null) {
                    grows = true;
                } else {
                    accepted.remove(setting.getKey());
                    refused.put(setting.getKey(), refusal);
                }
            }
        }
        refused.forEach((name, why) -> {
            if (TopicSettings.isIndispensable(name)) {
                throw refused(topic, Map.of(name, settings.get(name)), why);
            }
            LOG.warn(
                    "The target refuses {}={}, which topic {} has on the source; the topic is created without it: {}",
                    name,
                    settings.get(name),
                    topic,
                    MirrorException.reason(why));
        });
        return accepted;
    }

    private Throwable refusalOrNull(String topic, int partitions, Map<String, String> settings)
            throws ExecutionException {
        try {
            send(topic, partitions, settings, true);
            return null;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof InvalidConfigurationException refusal) {
                return refusal;
            }
            throw e;
        }
    }

    private void send(String topic, int partitions, Map<String, String> settings, boolean onlyValidate)
            throws ExecutionException {
        try {
            request(topic, partitions, settings, onlyValidate);
        } catch (ExecutionException e) {
            if (replication.isPresent() || !(e.getCause() instanceof UnsupportedVersionException)) {
                throw e;
            }
            replication = Optional.of(readDefaultReplication());
            request(topic, partitions, settings, onlyValidate);
        }
    }

    private short readDefaultReplication() throws ExecutionException {
        return Clusters.setting(Clusters.brokerConfig(target), DEFAULT_REPLICATION)
                .map(Short::parseShort)
                .orElseThrow(() -> MirrorException.failed("The target does not tell its " + DEFAULT_REPLICATION
                        + ", which the mirror needs to create topics; create them there as you want them"));
    }

    private void request(String topic, int partitions, Map<String, String> settings, boolean onlyValidate)
            throws ExecutionException {
        NewTopic wanted = new NewTopic(topic, Optional.of(partitions), replication).configs(settings);
        Clusters.await(target.createTopics(List.of(wanted), new CreateTopicsOptions().validateOnly(onlyValidate))
                .all());
    }

    private static MirrorException refused(String topic, Map<String, String> settings, Throwable why) {
        return MirrorException.failed(
                "The target refuses topic " + topic + " with the settings of the source, " + settings
                        + "; create it there as you want it, and the mirror will not change it",
                why);
    }
}
