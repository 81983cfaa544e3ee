package dev.millrace.mirror.groups;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static dev.millrace.mirror.support.MirrorFixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.Numbered;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.kafka.clients.admin.ListGroupsOptions;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Groups that are none of consumers: of Kafka Streams with its own protocol, and share groups. */
@Tag("thorough")
class GroupsOfOtherKindsIT {
    private static final Duration STOP = Duration.ofSeconds(40);

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture();

    @TempDir
    private Path folder;

    @Test
    void shouldLetAStreamsApplicationGoOnAtTheTarget() throws Exception {
        TopicPartition partition = new TopicPartition("streamed", 0);
        clusters.source().createTopic(partition.topic(), 1, 1, Map.of());
        Numbered.write(clusters.source(), partition, Numbered.values("r", 0, 40));
        Queue<String> seen = new ConcurrentLinkedQueue<>();
        try (KafkaStreams atSource = application(clusters.source(), partition.topic(), seen)) {
            await("the application has read all", () -> seen.size() == 40);
            assertThat(isOfType(clusters.source(), "application", GroupType.STREAMS))
                    .isTrue();
            assertThat(atSource.close(STOP)).isTrue();
        }
        Numbered.write(clusters.source(), partition, Numbered.values("r", 40, 50));

        try (MirrorProcess mirror = clusters.mirror(partition.topic(), 1, CopyMode.AUTO, groups("application"))) {
            await("its offset is kept", () -> committedOnTarget("application", partition) == 40, mirror);
            await("all is copied", () -> clusters.mirrored(partition.topic()) == 50, mirror);
            seen.clear();
            try (KafkaStreams atTarget = application(clusters.target(), partition.topic(), seen)) {
                await("the application has read the rest", () -> seen.size() >= 10, mirror);
                assertThat(isOfType(clusters.target(), "application", GroupType.STREAMS))
                        .isTrue();
                clusters.commit("application", Map.of(partition, new OffsetAndMetadata(50)));
                Numbered.write(clusters.source(), partition, Numbered.values("r", 50, 60));
                clusters.commit("application", Map.of(partition, new OffsetAndMetadata(60)));
                await(
                        "the mirror leaves the group alone",
                        () -> mirror.hasPrinted("while groups have members there: group application")
                                || (seen.size() >= 20 && committedOnTarget("application", partition) == 60),
                        mirror);
                await("the application has read what is new", () -> seen.size() >= 20, mirror);
                assertThat(atTarget.close(STOP)).isTrue();
            }
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }

        assertThat(seen).containsExactlyElementsOf(Numbered.values("r", 40, 60));
    }

    @Test
    void shouldNameShareGroupsThatAreNotKeptOnce() throws Exception {
        TopicPartition partition = new TopicPartition("shared", 0);
        clusters.source().createTopic(partition.topic(), 1, 1, Map.of());
        Numbered.write(clusters.source(), partition, Numbered.values("r", 0, 10));
        Map<String, Object> config = new HashMap<>(clusters.source().clientConfig());
        config.put("group.id", "share-group");
        try (KafkaShareConsumer<byte[], byte[]> consumer =
                new KafkaShareConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(Set.of(partition.topic()));
            await("it is a group", () -> {
                consumer.poll(Duration.ofMillis(100));
                return isOfType(clusters.source(), "share-group", GroupType.SHARE);
            });
        }
        clusters.commit("plain-group", Map.of(partition, new OffsetAndMetadata(4)));

        try (MirrorProcess mirror = clusters.mirror(partition.topic(), 1, CopyMode.AUTO, groups(".*-group"))) {
            await("the other is kept", () -> committedOnTarget("plain-group", partition) == 4, mirror);
            clusters.commit("plain-group", Map.of(partition, new OffsetAndMetadata(5)));
            await("the other is kept again", () -> committedOnTarget("plain-group", partition) == 5, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            assertThat(mirror.output()).containsOnlyOnce("not kept: group share-group");
        }
    }

    private static String[] groups(String names) {
        return new String[] {"--groups=" + names, "--groups-interval=1s"};
    }

    private KafkaStreams application(KafkaCluster cluster, String topic, Queue<String> seen) {
        Properties config = new Properties();
        config.putAll(cluster.clientConfig());
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "application");
        config.put(StreamsConfig.GROUP_PROTOCOL_CONFIG, "streams");
        config.put(StreamsConfig.STATE_DIR_CONFIG, folder.resolve("state").toString());
        config.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 100);
        config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.ByteArraySerde.class);
        config.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.ByteArraySerde.class);
        StreamsBuilder topology = new StreamsBuilder();
        topology.<byte[], byte[]>stream(topic)
                .foreach((key, value) -> seen.add(new String(value, StandardCharsets.UTF_8)));
        KafkaStreams application = new KafkaStreams(topology.build(), config);
        application.start();
        return application;
    }

    private static boolean isOfType(KafkaCluster cluster, String group, GroupType type) {
        return get(cluster.admin()
                        .listGroups(new ListGroupsOptions().withTypes(Set.of(type)))
                        .all())
                .stream()
                .anyMatch(listing -> listing.groupId().equals(group));
    }

    private static long committedOnTarget(String group, TopicPartition partition) {
        OffsetAndMetadata position = clusters.positionsOnTarget(group).get(partition);
        return position == null ? -1 : position.offset();
    }
}
