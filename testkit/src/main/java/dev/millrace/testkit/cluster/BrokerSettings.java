package dev.millrace.testkit.cluster;

import dev.millrace.testkit.cluster.ClusterSpec.Credentials;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The settings of the brokers of a {@link KafkaCluster}: quick to start, quick to notice a dead broker, and small. */
final class BrokerSettings {
    /** Three controllers keep a majority when any one is killed; more would only cost time. */
    private static final int MAX_CONTROLLERS = 3;

    /**
     * How long the partitions of a broker that was killed with -9 have no leader; its next start waits as long. Kafka's
     * default is 9 s.
     */
    static final Duration SESSION_TIMEOUT = Duration.ofSeconds(3);

    private static final String CONTROLLER = "CONTROLLER";
    private static final Set<String> FIXED = Set.of(
            "node.id",
            "broker.id",
            "process.roles",
            "controller.quorum.voters",
            "controller.listener.names",
            "listeners",
            "advertised.listeners",
            "listener.security.protocol.map",
            "inter.broker.listener.name",
            "log.dir",
            "log.dirs",
            "metadata.log.dir");

    private BrokerSettings() {}

    /** Refuses a setting that describes the cluster itself. */
    static void refuseFixed(String key, String value) {
        if (FIXED.contains(key)) {
            throw new IllegalArgumentException("Broker setting " + key + "=" + value
                    + " cannot be chosen: the cluster sets it from brokers(), listeners() and its free ports");
        }
    }

    /** Each broker has a rack of its own. */
    static String rack(int broker) {
        return "rack-" + broker;
    }

    /** All settings of one broker, except those of security and those that the user of the cluster chose. */
    static Map<String, String> of(Node node, List<Node> cluster, Path logDir, Path metadataLogDir) {
        List<Node> controllers = controllers(cluster);
        boolean isController = controllers.contains(node);
        Map<String, String> settings = new HashMap<>();
        settings.put("node.id", Integer.toString(node.id()));
        settings.put("broker.rack", rack(node.id()));
        settings.put("process.roles", isController ? "broker,controller" : "broker");
        settings.put(
                "controller.quorum.voters",
                controllers.stream()
                        .map(voter -> voter.id() + "@127.0.0.1:" + voter.controllerPort())
                        .collect(Collectors.joining(",")));
        settings.put("controller.listener.names", CONTROLLER);
        settings.put("log.dirs", logDir.toString());
        settings.put("metadata.log.dir", metadataLogDir.toString());

        Stream<String> forClients =
                node.ports().keySet().stream().map(listener -> listener + "://" + node.address(listener));
        settings.put(
                "advertised.listeners",
                node.ports().keySet().stream()
                        .map(listener -> listener + "://" + node.advertisedAddress(listener))
                        .collect(Collectors.joining(",")));
        Stream<String> forControllers =
                isController ? Stream.of(CONTROLLER + "://127.0.0.1:" + node.controllerPort()) : Stream.empty();
        settings.put("listeners", Stream.concat(forClients, forControllers).collect(Collectors.joining(",")));
        settings.put(
                "listener.security.protocol.map",
                Stream.concat(
                                Stream.of(CONTROLLER + ":PLAINTEXT"),
                                Stream.of(Listener.values())
                                        .map(listener -> listener + ":" + listener.securityProtocol()))
                        .collect(Collectors.joining(",")));
        boolean hasOwnListener = node.ports().containsKey(Listener.REPLICATION);
        settings.put("inter.broker.listener.name", (hasOwnListener ? Listener.REPLICATION : Listener.PLAINTEXT).name());
        settings.putAll(defaults(cluster.size()));
        return settings;
    }

    /** What the brokers need for their listeners with SASL: each listener knows the users in each mechanism. */
    static Map<String, String> sasl(Set<Listener> listeners, Credentials credentials) {
        Map<String, String> settings = new HashMap<>();
        for (Listener listener : listeners) {
            if (!listener.isAuthenticated()) {
                continue;
            }
            for (SaslMechanism mechanism : SaslMechanism.values()) {
                String prefix = listener.prefix() + mechanism.kafkaName().toLowerCase(Locale.ROOT);
                settings.put(prefix + ".sasl.jaas.config", mechanism.brokerJaas(credentials));
            }
        }
        if (!settings.isEmpty()) {
            settings.put(
                    "sasl.enabled.mechanisms",
                    Stream.of(SaslMechanism.values())
                            .map(SaslMechanism::kafkaName)
                            .collect(Collectors.joining(",")));
        }
        return settings;
    }

    /** Lets ACLs decide, except for clients without authentication: the other brokers, and the tests' admin client. */
    static Map<String, String> authorizer() {
        return Map.of(
                "authorizer.class.name",
                "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "super.users",
                "User:ANONYMOUS");
    }

    private static List<Node> controllers(List<Node> cluster) {
        int largestOdd = cluster.size() % 2 == 1 ? cluster.size() : cluster.size() - 1;
        return cluster.subList(0, Math.min(largestOdd, MAX_CONTROLLERS));
    }

    private static Map<String, String> defaults(int brokers) {
        String replicas = Integer.toString(Math.min(3, brokers));
        String minIsr = Integer.toString(Math.min(2, brokers));
        return Map.ofEntries(
                Map.entry("auto.create.topics.enable", "false"),
                Map.entry("group.initial.rebalance.delay.ms", "0"),
                Map.entry("offsets.topic.num.partitions", "4"),
                Map.entry("offsets.topic.replication.factor", replicas),
                Map.entry("transaction.state.log.num.partitions", "4"),
                Map.entry("transaction.state.log.replication.factor", replicas),
                Map.entry("transaction.state.log.min.isr", minIsr),
                Map.entry("share.coordinator.state.topic.num.partitions", "4"),
                Map.entry("share.coordinator.state.topic.replication.factor", replicas),
                Map.entry("share.coordinator.state.topic.min.isr", minIsr),
                Map.entry("broker.session.timeout.ms", Long.toString(SESSION_TIMEOUT.toMillis())),
                Map.entry("broker.heartbeat.interval.ms", "500"),
                // Keep records of any age until the test ends, unless a topic says otherwise.
                Map.entry("log.retention.ms", "-1"),
                // By default 128 MB of heap, allocated at the start.
                Map.entry("log.cleaner.dedupe.buffer.size", "4194304"),
                // By default 10 MB for each of the two index files of each partition.
                Map.entry("log.index.size.max.bytes", "1048576"));
    }
}
