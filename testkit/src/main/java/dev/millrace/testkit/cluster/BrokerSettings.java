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

/**
 * The settings of the brokers and controllers of a {@link KafkaCluster}: those that describe the cluster, and the few in
 * which it deviates from Kafka's defaults.
 */
final class BrokerSettings {
    /** Three controllers keep a majority when any one is killed; more would only cost time. */
    private static final int MAX_CONTROLLERS = 3;

    /**
     * {@code broker.session.timeout.ms} by Kafka's default: how long the partitions of a broker that was killed with -9
     * have no leader; its next start waits as long.
     */
    static final Duration SESSION_TIMEOUT = Duration.ofSeconds(9);

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

    /** How many of so many brokers are controllers too, or have a controller beside them. */
    static int controllers(int brokers) {
        int largestOdd = brokers % 2 == 1 ? brokers : brokers - 1;
        return Math.min(largestOdd, MAX_CONTROLLERS);
    }

    /** What every node has: who it is, who the controllers are, and where its data is. */
    static Map<String, String> of(Node node, List<Node> controllers, Path logDir, Path metadataLogDir) {
        Map<String, String> settings = new HashMap<>();
        settings.put("node.id", Integer.toString(node.id()));
        settings.put(
                "controller.quorum.voters",
                controllers.stream()
                        .map(voter -> voter.id() + "@" + controllerAddress(voter))
                        .collect(Collectors.joining(",")));
        settings.put("controller.listener.names", CONTROLLER);
        settings.put("log.dirs", logDir.toString());
        settings.put("metadata.log.dir", metadataLogDir.toString());
        return settings;
    }

    /** What a node has that is a controller and no broker. */
    static Map<String, String> controller(Node node) {
        return Map.of(
                "process.roles",
                "controller",
                "listeners",
                CONTROLLER + "://" + controllerAddress(node),
                "listener.security.protocol.map",
                CONTROLLER + ":PLAINTEXT");
    }

    /** What a broker has, except the settings of security and those that the user of the cluster chose. */
    static Map<String, String> broker(Node node, boolean isController) {
        Map<String, String> settings = new HashMap<>();
        settings.put("broker.rack", rack(node.id()));
        settings.put("process.roles", isController ? "broker,controller" : "broker");
        Stream<String> forClients =
                node.ports().keySet().stream().map(listener -> listener + "://" + node.address(listener));
        settings.put(
                "advertised.listeners",
                node.ports().keySet().stream()
                        .map(listener -> listener + "://" + node.advertisedAddress(listener))
                        .collect(Collectors.joining(",")));
        Stream<String> forControllers =
                isController ? Stream.of(CONTROLLER + "://" + controllerAddress(node)) : Stream.empty();
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
        return settings;
    }

    private static String controllerAddress(Node node) {
        return "127.0.0.1:" + node.controllerPort();
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

    /**
     * Kafka's defaults for its own topics, three replicas of which two are in sync, or what so few brokers can have. The
     * settings that come with Kafka for a single broker say the same.
     */
    static Map<String, String> internalTopics(int brokers) {
        String replicas = Integer.toString(Math.min(3, brokers));
        String minIsr = Integer.toString(Math.min(2, brokers));
        return Map.of(
                "offsets.topic.replication.factor", replicas,
                "transaction.state.log.replication.factor", replicas,
                "transaction.state.log.min.isr", minIsr,
                "share.coordinator.state.topic.replication.factor", replicas,
                "share.coordinator.state.topic.min.isr", minIsr);
    }

    /**
     * The settings in which clusters deviate from Kafka's defaults, unless {@link KafkaCluster.Builder#kafkaDefaults()}
     * asks for those. The other deviation is that brokers are controllers, too, see {@link Nodes}.
     */
    static Map<String, String> deviations() {
        // By default a group waits 3 s for more members before it begins: 3 s for each start of a consumer or a mirror.
        return Map.of("group.initial.rebalance.delay.ms", "0");
    }
}
