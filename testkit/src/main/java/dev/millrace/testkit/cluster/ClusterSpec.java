package dev.millrace.testkit.cluster;

import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a cluster is built from; what {@link KafkaCluster.Builder} has collected. Immutable.
 *
 * @param settings win over the defaults of {@link BrokerSettings}
 * @param features levels by name, of those that are not the newest
 * @param heap of each broker, in the form of {@code -Xmx}
 */
record ClusterSpec(
        int brokers,
        Set<Listener> listeners,
        Map<String, String> settings,
        Map<String, Integer> features,
        String heap,
        Credentials credentials) {
    ClusterSpec {
        listeners = Collections.unmodifiableSet(EnumSet.copyOf(listeners));
        settings = Map.copyOf(settings);
        features = Map.copyOf(features);
    }

    boolean hasEncryptedListener() {
        return listeners.stream().anyMatch(Listener::isEncrypted);
    }

    /** The users of the listeners with SASL; they have the same password. */
    record Credentials(List<String> users, String password) {}
}
