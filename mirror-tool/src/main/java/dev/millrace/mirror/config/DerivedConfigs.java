package dev.millrace.mirror.config;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Derives the configurations of single clients from those in {@link MirrorConfig}. */
public final class DerivedConfigs {
    /**
     * A killed process's open transaction blocks readers of committed records for this long. It must be longer than a
     * transaction takes to end.
     */
    private static final int TRANSACTION_TIMEOUT_MS = 15_000;

    private static final List<String> GROUP_SETTINGS = List.of(
            ConsumerConfig.GROUP_INSTANCE_ID_CONFIG,
            ConsumerConfig.GROUP_PROTOCOL_CONFIG,
            ConsumerConfig.GROUP_REMOTE_ASSIGNOR_CONFIG,
            ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG,
            ByteBalancedAssignor.SIZES_CONFIG,
            ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG,
            ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG,
            ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG,
            ConsumerConfig.METADATA_MAX_AGE_CONFIG,
            ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
            ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG,
            ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG,
            ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG);

    private static final Set<String> KAFKA_SETTINGS = Stream.of(
                    AdminClientConfig.configNames(), ConsumerConfig.configNames(), ProducerConfig.configNames())
            .flatMap(Set::stream)
            .collect(Collectors.toUnmodifiableSet());

    /** What the names of settings begin with that belong to a cluster. */
    private static final List<String> OF_CLUSTER =
            List.of("bootstrap.", "client.dns.lookup", "security.", "ssl.", "sasl.", "socket.connection.");

    private static final String OWN_SETTINGS = "millrace.";

    private DerivedConfigs() {}

    /** Returns the configuration of an admin client of the same cluster: those settings that an admin client takes. */
    public static Map<String, Object> admin(Map<String, Object> client) {
        Map<String, Object> config = only(AdminClientConfig.configNames(), client);
        config.put(AdminClientConfig.CLIENT_ID_CONFIG, client.get(AdminClientConfig.CLIENT_ID_CONFIG) + "-admin");
        return config;
    }

    /**
     * Whether the setting belongs to a cluster, whatever the client is: its addresses, what secures the connection, and
     * what plugins for that may read.
     */
    public static boolean isOfCluster(String setting) {
        return KAFKA_SETTINGS.contains(setting)
                ? OF_CLUSTER.stream().anyMatch(setting::startsWith)
                : !setting.startsWith(OWN_SETTINGS);
    }

    /** Returns the settings with these names and those that no client knows: plugins for TLS and SASL may read them. */
    private static Map<String, Object> only(Set<String> names, Map<String, Object> client) {
        Map<String, Object> config = new HashMap<>(client);
        config.keySet().removeIf(key -> KAFKA_SETTINGS.contains(key) && !names.contains(key));
        return config;
    }

    /** Returns the configuration of a producer that writes to the source through the consumer's connection settings. */
    public static Map<String, Object> sourceProducer(Map<String, Object> consumer) {
        Map<String, Object> config =
                only(ProducerConfig.configNames(), only(AdminClientConfig.configNames(), consumer));
        config.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        config.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        return config;
    }

    /** Returns the configuration of a consumer without a group, which reads only what it is told to. */
    public static Map<String, Object> reader(Map<String, Object> client, Object isolation) {
        Map<String, Object> config = admin(client);
        config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        config.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
        config.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, isolation);
        return config;
    }

    /** Returns the configuration of one thread's consumer: ids that must be unique per consumer get a number. */
    public static Map<String, Object> numbered(Map<String, Object> consumer, int number) {
        Map<String, Object> config = new HashMap<>(consumer);
        config.computeIfPresent(ConsumerConfig.CLIENT_ID_CONFIG, (key, id) -> id + "-" + number);
        config.computeIfPresent(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, (key, id) -> id + "-" + number);
        return config;
    }

    /** Returns the configuration of a consumer whose {@link ByteBalancedAssignor} knows the source's sizes. */
    public static Map<String, Object> withSizes(Map<String, Object> consumer, PartitionSizes sizes) {
        Map<String, Object> config = new HashMap<>(consumer);
        config.put(ByteBalancedAssignor.SIZES_CONFIG, sizes);
        return config;
    }

    /**
     * Returns the configuration of a consumer that throws, instead of moving, when the source no longer has its
     * position.
     */
    public static Map<String, Object> withoutReset(Map<String, Object> consumer) {
        Map<String, Object> config = new HashMap<>(consumer);
        config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        return config;
    }

    /** Returns the configuration of a producer whose records are in transactions. */
    public static Map<String, Object> transactional(Map<String, Object> producer, String transactionalId) {
        Map<String, Object> config = new HashMap<>(producer);
        config.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, transactionalId);
        config.putIfAbsent(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, TRANSACTION_TIMEOUT_MS);
        return config;
    }

    /**
     * Returns the configuration of a member of a group on the target: the producer's connection settings and the
     * consumer's group settings.
     *
     * @param consumer numbered
     */
    public static Map<String, Object> targetGroup(
            Map<String, Object> consumer, Map<String, Object> producer, String group) {
        Map<String, Object> config =
                only(ConsumerConfig.configNames(), only(AdminClientConfig.configNames(), producer));
        config.put(ConsumerConfig.CLIENT_ID_CONFIG, producer.get(ProducerConfig.CLIENT_ID_CONFIG) + "-group");
        for (String key : GROUP_SETTINGS) {
            if (consumer.containsKey(key)) {
                config.put(key, consumer.get(key));
            }
        }
        config.put(ConsumerConfig.GROUP_ID_CONFIG, group);
        return config;
    }

    /** Returns the configuration of a consumer that sees what its group has committed without joining it. */
    public static Map<String, Object> withoutMember(Map<String, Object> consumer) {
        Map<String, Object> config = new HashMap<>(consumer);
        config.remove(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG);
        return config;
    }

    /** Returns the configuration of the fetcher that reads for a consumer. */
    public static Map<String, Object> fetcher(Map<String, Object> consumer) {
        Map<String, Object> config = new HashMap<>(consumer);
        config.put(ConsumerConfig.CLIENT_ID_CONFIG, consumer.get(ConsumerConfig.CLIENT_ID_CONFIG) + "-fetcher");
        return config;
    }
}
