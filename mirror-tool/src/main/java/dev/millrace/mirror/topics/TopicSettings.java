package dev.millrace.mirror.topics;

import dev.millrace.mirror.cluster.Clusters;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.record.TimestampType;

/** Decides which settings of a source topic its copy gets, and which of them it must have. */
public final class TopicSettings {
    private static final Set<String> LEFT_TO_THE_TARGET = Set.of(
            // These contain ids of source brokers.
            "leader.replication.throttled.replicas",
            "follower.replication.throttled.replicas",
            // These depend on the replication factor, which is the target's. A topic that needs more replicas in sync
            // than it has would refuse every record.
            TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG,
            TopicConfig.UNCLEAN_LEADER_ELECTION_ENABLE_CONFIG,
            // A record keeps its timestamp and reaches the target later than the source. So the target must neither
            // replace the timestamp nor refuse a record because it is old.
            TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG,
            TopicConfig.MESSAGE_TIMESTAMP_BEFORE_MAX_MS_CONFIG,
            "message.timestamp.difference.max.ms");

    /** These decide which records the target deletes. */
    private static final Set<String> INDISPENSABLE = Set.of(
            TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.RETENTION_MS_CONFIG, TopicConfig.RETENTION_BYTES_CONFIG);

    private TopicSettings() {}

    /**
     * Returns the settings of the topic itself, not of its brokers, that make sense in another cluster, sorted by name.
     *
     * @param excluded names of further settings that the target keeps as they are
     */
    public static Map<String, String> toCopy(Config source, Set<String> excluded) {
        Map<String, String> settings = new TreeMap<>();
        setOnTopic(source)
                .filter(entry -> !isLeft(entry, excluded))
                .forEach(entry -> settings.put(entry.name(), entry.value()));
        return settings;
    }

    /** Returns the other settings of the topic itself, sorted by name. */
    public static Map<String, String> toLeave(Config source, Set<String> excluded) {
        Map<String, String> settings = new TreeMap<>();
        setOnTopic(source)
                .filter(entry -> isLeft(entry, excluded))
                .forEach(entry -> settings.put(entry.name(), entry.value()));
        return settings;
    }

    private static boolean isLeft(ConfigEntry setting, Set<String> excluded) {
        return LEFT_TO_THE_TARGET.contains(setting.name()) || excluded.contains(setting.name());
    }

    /** Whether the target would delete different records than the source without this setting. */
    static boolean isIndispensable(String name) {
        return INDISPENSABLE.contains(name);
    }

    /** Returns the cleanup policies in force, set on the topic or by default on its brokers. */
    public static Set<String> cleanupPolicies(Config topic) {
        return Clusters.setting(topic, TopicConfig.CLEANUP_POLICY_CONFIG).stream()
                .flatMap(policies -> Stream.of(policies.split(",")))
                .map(String::strip)
                .filter(policy -> !policy.isEmpty())
                .collect(Collectors.toUnmodifiableSet());
    }

    /** Whether the brokers replace the timestamps of the topic's records with the time of writing. */
    public static boolean isStampedByBroker(Config topic) {
        return Clusters.setting(topic, TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG)
                .filter(TimestampType.LOG_APPEND_TIME.toString()::equals)
                .isPresent();
    }

    /** Returns what makes the records of a topic differ on the two clusters, each item a phrase. */
    public static List<String> differences(Config source, Config target) {
        List<String> differences = new ArrayList<>();
        if (!cleanupPolicies(source).equals(cleanupPolicies(target))) {
            differences.add("cleanup.policy is " + cleanupPolicies(source) + " on the source and "
                    + cleanupPolicies(target) + " on the target");
        }
        if (isStampedByBroker(target)) {
            differences.add("the target replaces timestamps: message.timestamp.type=LogAppendTime");
        }
        return differences;
    }

    private static Stream<ConfigEntry> setOnTopic(Config topic) {
        return topic.entries().stream()
                .filter(entry ->
                        entry.source() == ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG && entry.value() != null);
    }
}
