package dev.millrace.testkit.cluster;

import java.nio.file.Path;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a cluster is built from; what {@link KafkaCluster.Builder} has collected. Immutable.
 *
 * @param settings win over those of {@link BrokerSettings}
 * @param features levels by name, of those that are not the newest
 */
record ClusterSpec(
        Brokers brokers,
        Set<Listener> listeners,
        Map<String, String> settings,
        Map<String, Integer> features,
        Credentials credentials) {
    ClusterSpec {
        listeners = Collections.unmodifiableSet(EnumSet.copyOf(listeners));
        settings = Map.copyOf(settings);
        features = Map.copyOf(features);
    }

    boolean hasEncryptedListener() {
        return listeners.stream().anyMatch(Listener::isEncrypted);
    }

    /**
     * Its processes.
     *
     * @param areKafkaDefaults as {@link KafkaCluster.Builder#kafkaDefaults()} says
     * @param heap of each broker, in the form of {@code -Xmx}
     * @param dataFolders of those brokers that have their data outside the cluster's folder
     */
    record Brokers(int number, boolean areKafkaDefaults, String heap, Map<Integer, Path> dataFolders) {
        Brokers {
            dataFolders = Map.copyOf(dataFolders);
        }
    }

    /** The users of the listeners with SASL; they have the same password. */
    record Credentials(List<String> users, String password) {}
}
