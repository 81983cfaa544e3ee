package dev.millrace.mirror.topics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConfigEntry.ConfigSource;
import org.junit.jupiter.api.Test;

class TopicSettingsTest {
    @Test
    void shouldCopyWhatIsSetOnTheTopicButNotWhatBelongsToItsCluster() {
        Config source = new Config(List.of(
                entry("cleanup.policy", "compact", ConfigSource.DYNAMIC_TOPIC_CONFIG),
                entry("retention.ms", "1000", ConfigSource.STATIC_BROKER_CONFIG),
                entry("segment.ms", "2000", ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG),
                entry("max.message.bytes", "3000", ConfigSource.DEFAULT_CONFIG),
                entry("message.timestamp.after.max.ms", "4000", ConfigSource.DYNAMIC_TOPIC_CONFIG),
                entry("message.timestamp.before.max.ms", "5000", ConfigSource.DYNAMIC_TOPIC_CONFIG),
                entry("message.timestamp.type", "LogAppendTime", ConfigSource.DYNAMIC_TOPIC_CONFIG),
                entry("min.insync.replicas", "2", ConfigSource.DYNAMIC_TOPIC_CONFIG),
                entry("leader.replication.throttled.replicas", "0:1", ConfigSource.DYNAMIC_TOPIC_CONFIG),
                entry("follower.replication.throttled.replicas", "0:2", ConfigSource.DYNAMIC_TOPIC_CONFIG)));

        assertThat(TopicSettings.toCopy(source, Set.of()))
                .containsOnlyKeys("cleanup.policy", "message.timestamp.after.max.ms")
                .containsEntry("cleanup.policy", "compact");
        assertThat(TopicSettings.toLeave(source, Set.of()))
                .containsOnlyKeys(
                        "follower.replication.throttled.replicas",
                        "leader.replication.throttled.replicas",
                        "message.timestamp.before.max.ms",
                        "message.timestamp.type",
                        "min.insync.replicas");
        assertThat(TopicSettings.toCopy(source, Set.of("cleanup.policy")))
                .containsOnlyKeys("message.timestamp.after.max.ms");
        assertThat(TopicSettings.toLeave(source, Set.of("cleanup.policy"))).containsKey("cleanup.policy");
    }

    @Test
    void shouldCompareCleanupPoliciesWhateverTheirOrderAndOrigin() {
        Config one = new Config(List.of(entry("cleanup.policy", "compact,delete", ConfigSource.DYNAMIC_TOPIC_CONFIG)));
        Config other = new Config(List.of(entry("cleanup.policy", "delete, compact", ConfigSource.DEFAULT_CONFIG)));

        assertThat(TopicSettings.cleanupPolicies(one)).isEqualTo(TopicSettings.cleanupPolicies(other));
        assertThat(TopicSettings.cleanupPolicies(new Config(List.of()))).isEmpty();
    }

    private static ConfigEntry entry(String name, String value, ConfigSource source) {
        return new ConfigEntry(name, value, source, false, false, List.of(), ConfigEntry.ConfigType.STRING, null);
    }
}
