package dev.millrace.mirror.topics;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static dev.millrace.mirror.support.MirrorFixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.config.SyncPolicy;
import dev.millrace.mirror.config.SyncedPart;
import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.quota.ClientQuotaFilter;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code --sync}: what a mirror keeps on the target besides records. */
class ClusterSyncIT {
    private static final Duration STOP = Duration.ofSeconds(40);

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture(KafkaCluster.Builder::authorizer);

    @Test
    void shouldFollowTheSettingsOfTheSourceExceptForThoseExcluded() throws Exception {
        String topic = "settings";
        String copy = "eu.settings";
        clusters.source().createTopic(topic, 1, 1, Map.of("retention.ms", "86400000", "segment.bytes", "2000000"));
        clusters.target().createTopic(copy, 1, 1, Map.of("flush.messages", "10", "segment.bytes", "3000000"));

        try (MirrorProcess mirror =
                mirror(topic, "--sync=settings", "--exclude-settings=segment.bytes", "--topic-prefix=eu.")) {
            await(
                    "the target has the settings of the source",
                    () -> settings(copy).equals(Map.of("retention.ms", "86400000", "segment.bytes", "3000000")),
                    mirror);

            alter(topic, OpType.SET, "cleanup.policy", "compact");
            alter(topic, OpType.DELETE, "retention.ms", "");
            await(
                    "the target follows",
                    () -> settings(copy).equals(Map.of("cleanup.policy", "compact", "segment.bytes", "3000000")),
                    mirror);

            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            assertThat(mirror.output())
                    .contains("Topic settings -> eu.settings on the target gets the settings of the source: "
                            + "set {retention.ms=86400000}, reset [flush.messages]");
        }
    }

    @Test
    @Tag("thorough")
    void shouldSetWhatTheTargetTakesAndTellOnceWhatItRefuses() throws Exception {
        String topic = "refused";
        clusters.source().createTopic(topic, 1, 1, Map.of("min.compaction.lag.ms", "5000", "retention.ms", "1000000"));
        clusters.target().createTopic(topic, 1, 1, Map.of("max.compaction.lag.ms", "1000"));

        try (MirrorProcess mirror = mirror(topic, "--sync=settings", "--exclude-settings=max.compaction.lag.ms")) {
            await("the target has one setting", () -> "1000000".equals(retention(topic)), mirror);
            alter(topic, OpType.SET, "retention.ms", "2000000");
            await("it is asked again", () -> "2000000".equals(retention(topic)), mirror);

            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            assertThat(mirror.output())
                    .containsOnlyOnce("Topic refused on the target does not get the settings of the source, "
                            + "set {min.compaction.lag.ms=5000}: ");
        }
        assertThat(settings(topic)).doesNotContainKey("min.compaction.lag.ms");
    }

    private static String retention(String topic) {
        return settings(topic).get("retention.ms");
    }

    @Test
    void shouldLetTheSamePrincipalsRead() throws Exception {
        String topic = "readable";
        clusters.source().createTopic(topic, 1, 1, Map.of());
        get(clusters.source()
                .admin()
                .createAcls(List.of(
                        acl(topic, PatternType.LITERAL, AclOperation.READ, "ann"),
                        acl(topic, PatternType.LITERAL, AclOperation.WRITE, "bob"),
                        acl("read", PatternType.PREFIXED, AclOperation.READ, "carl")))
                .all());

        try (MirrorProcess mirror = mirror(topic, "--sync=acls")) {
            await("the target has those who may read", () -> acls().size() == 2, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
        assertThat(acls())
                .containsExactlyInAnyOrder(
                        acl(topic, PatternType.LITERAL, AclOperation.READ, "ann"),
                        acl(topic, PatternType.LITERAL, AclOperation.READ, "carl"));
    }

    @Test
    @Tag("thorough")
    void shouldGiveUsersTheSameQuotasAndLeaveThoseOfTheTarget() throws Exception {
        String topic = "quotas";
        clusters.source().createTopic(topic, 1, 1, Map.of());
        limit(clusters.source(), "ann", "producer_byte_rate", 5e6);
        limit(clusters.target(), "ann", "consumer_byte_rate", 7e6);
        limit(clusters.target(), "bob", "consumer_byte_rate", 8e6);

        try (MirrorProcess mirror = mirror(topic, "--sync=quotas,acls")) {
            await(
                    "ann has both limits",
                    () -> quotas("ann").equals(Map.of("producer_byte_rate", 5e6, "consumer_byte_rate", 7e6)),
                    mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
        assertThat(quotas("bob")).isEqualTo(Map.of("consumer_byte_rate", 8e6));
    }

    @Test
    @Tag("thorough")
    void shouldTellWhatIsStillToBeDone() throws Exception {
        String topic = "told";
        clusters.source().createTopic(topic, 1, 1, Map.of("retention.ms", "86400000"));
        clusters.target().createTopic(topic, 1, 1, Map.of());
        get(clusters.source()
                .admin()
                .createAcls(List.of(acl(topic, PatternType.LITERAL, AclOperation.READ, "dan")))
                .all());
        limit(clusters.source(), "dan", "producer_byte_rate", 5e6);
        SyncCheck check = new SyncCheck(
                new SyncPolicy(EnumSet.allOf(SyncedPart.class), Set.of(), SyncPolicy.DEFAULT_INTERVAL),
                clusters.source().admin(),
                new CopiesOnTarget(clusters.target().admin(), TopicNames.KEPT));

        assertThat(check.differences(List.of(topic)))
                .hasSize(3)
                .startsWith("settings of topic told", "1 ACL")
                .anyMatch(difference -> difference.contains(" quota"));
        try (MirrorProcess mirror = mirror(topic, "--sync=settings,acls,quotas")) {
            await("nothing is missing", () -> check.differences(List.of(topic)).isEmpty(), mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
    }

    private static MirrorProcess mirror(String topic, String... more) {
        String[] args = new String[more.length + 1];
        System.arraycopy(more, 0, args, 0, more.length);
        args[more.length] = "--sync-interval=1s";
        return clusters.mirror(topic, 1, ProducerKind.MILLRACE, args);
    }

    private static Map<String, String> settings(String topic) {
        try {
            return TopicSettings.toCopy(Clusters.topicConfig(clusters.target().admin(), topic), Set.of());
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void alter(String topic, OpType kind, String name, String value) {
        AlterConfigOp change = new AlterConfigOp(new ConfigEntry(name, value), kind);
        get(clusters.source()
                .admin()
                .incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.TOPIC, topic), List.of(change)))
                .all());
    }

    private static AclBinding acl(String name, PatternType kind, AclOperation operation, String user) {
        return new AclBinding(
                new ResourcePattern(ResourceType.TOPIC, name, kind),
                new AccessControlEntry("User:" + user, "*", operation, AclPermissionType.ALLOW));
    }

    private static Collection<AclBinding> acls() {
        return get(clusters.target().admin().describeAcls(AclBindingFilter.ANY).values());
    }

    private static void limit(KafkaCluster cluster, String user, String name, double value) {
        ClientQuotaEntity entity = new ClientQuotaEntity(Map.of(ClientQuotaEntity.USER, user));
        get(cluster.admin()
                .alterClientQuotas(
                        List.of(new ClientQuotaAlteration(entity, List.of(new ClientQuotaAlteration.Op(name, value)))))
                .all());
    }

    private static Map<String, Double> quotas(String user) {
        return get(clusters.target()
                        .admin()
                        .describeClientQuotas(ClientQuotaFilter.all())
                        .entities())
                .getOrDefault(new ClientQuotaEntity(Map.of(ClientQuotaEntity.USER, user)), Map.of());
    }
}
