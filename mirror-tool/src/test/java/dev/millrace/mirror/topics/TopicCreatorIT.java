package dev.millrace.mirror.topics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Creates topics on a target that does not accept every setting. */
class TopicCreatorIT {
    @AutoClose
    private static final KafkaCluster target = KafkaCluster.builder().start();

    @Test
    void shouldDoWithoutWhatTheTargetDoesNotKnowOrCannotDo() throws Exception {
        Map<String, String> wanted = Map.of(
                "a.setting.of.the.future", "1",
                "cleanup.policy", "compact",
                "remote.storage.enable", "true",
                "segment.bytes", "2000000");

        Map<String, String> created = new TopicCreator(target.admin()).create("modern", 2, wanted);

        Map<String, String> expected = Map.of("cleanup.policy", "compact", "segment.bytes", "2000000");
        assertThat(created).isEqualTo(expected);
        assertThat(TopicSettings.toCopy(Clusters.topicConfig(target.admin(), "modern"), Set.of()))
                .isEqualTo(expected);
        assertThat(MirrorFixture.partitions(target, "modern")).isEqualTo(2);
    }

    @Test
    void shouldFindSettingsThatAreValidOnlyTogether() throws Exception {
        // Alone, local.retention.ms exceeds the default of retention.ms.
        Map<String, String> wanted = Map.of(
                "a.setting.of.the.future", "1", "local.retention.ms", "99999999999", "retention.ms", "999999999999");

        Map<String, String> created = new TopicCreator(target.admin()).create("paired", 1, wanted);

        assertThat(created).containsOnlyKeys("local.retention.ms", "retention.ms");
    }

    @Test
    void shouldNotCreateATopicThatWouldDeleteByOtherRules() {
        Map<String, String> wanted = Map.of("cleanup.policy", "shred", "segment.bytes", "2000000");

        assertThatThrownBy(() -> new TopicCreator(target.admin()).create("shredded", 1, wanted))
                .isInstanceOf(MirrorException.class)
                .hasMessageContaining("shredded")
                .hasMessageContaining("{cleanup.policy=shred}");

        assertThat(MirrorFixture.partitions(target, "shredded")).isZero();
    }

    @Test
    void shouldTellThatATopicExists() {
        target.createTopic("present", 1, 1, Map.of());

        assertThatThrownBy(() -> new TopicCreator(target.admin()).create("present", 1, Map.of()))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(TopicExistsException.class);
    }
}
