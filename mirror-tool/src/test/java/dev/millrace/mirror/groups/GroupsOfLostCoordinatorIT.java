package dev.millrace.mirror.groups;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.ClusterRole;
import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.Numbered;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Partitions of {@code __consumer_offsets} without a leader: groups that have their offsets there wait, and no others. */
@Timeout(300)
class GroupsOfLostCoordinatorIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final int OFFSET_PARTITIONS = 4;
    private static final String OFFSETS = "__consumer_offsets";

    private static MirrorFixture clusters;

    @BeforeAll
    static void startClusters() {
        clusters = new MirrorFixture(builder -> builder.brokers(2)
                .setting("offsets.topic.replication.factor", "1")
                .setting("offsets.topic.num.partitions", Integer.toString(OFFSET_PARTITIONS)));
    }

    @AfterAll
    static void stopClusters() {
        clusters.close();
    }

    @ParameterizedTest
    @EnumSource(names = "SOURCE")
    void shouldKeepTheOffsetsOfAllOtherGroups(ClusterRole role) throws Exception {
        KafkaCluster lossy = role == ClusterRole.SOURCE ? clusters.source() : clusters.target();
        String name = own(role);
        clusters.source().createTopic(name, Map.of(0, List.of(1)), Map.of());
        TopicPartition partition = new TopicPartition(name, 0);
        Numbered.write(clusters.source(), partition, Numbered.values("r", 0, 100));
        List<String> groups =
                IntStream.range(0, 12).mapToObj(number -> name + "-g" + number).toList();
        commit(groups, partition, 10);

        try (MirrorProcess mirror =
                clusters.mirror(name, 1, CopyMode.AUTO, "--groups=" + name + "-g.*", "--groups-interval=1s")) {
            await("all are kept", () -> areKept(groups, partition, 10), mirror);
            List<String> others = groups.stream()
                    .filter(group -> coordinator(lossy, group) == 1)
                    .toList();
            assertThat(others).isNotEmpty().hasSizeLessThan(groups.size());
            lossy.kill(2);
            await(
                    "its coordinators are away",
                    () -> IntStream.range(0, OFFSET_PARTITIONS)
                            .noneMatch(number -> lossy.leader(OFFSETS, number) == 2));

            for (int offset : List.of(20, 30, 40)) {
                commit(others, partition, offset);
                await("the others are kept", () -> areKept(others, partition, offset), mirror);
            }

            lossy.restart(2);
            await(
                    "its coordinators are back",
                    () -> IntStream.range(0, OFFSET_PARTITIONS)
                            .noneMatch(number -> lossy.leader(OFFSETS, number) == -1));
            commit(groups, partition, 50);
            await("all are kept again", () -> areKept(groups, partition, 50), mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
    }

    /** A group, and topic, of a mirror that has its coordinator at broker 1 of the source. */
    private static String own(ClusterRole role) {
        clusters.source().createTopic("any-" + role, 1, 1, Map.of());
        clusters.commit("any", Map.of(new TopicPartition("any-" + role, 0), new OffsetAndMetadata(0)));
        await(
                "there are offsets",
                () -> IntStream.range(0, OFFSET_PARTITIONS)
                        .allMatch(number -> clusters.source().leader(OFFSETS, number) > 0));
        return Stream.iterate(0, number -> number + 1)
                .map(number -> role + "-" + number)
                .filter(name -> coordinator(clusters.source(), name) == 1)
                .findFirst()
                .orElseThrow();
    }

    private static int coordinator(KafkaCluster cluster, String group) {
        return cluster.leader(OFFSETS, Math.floorMod(group.hashCode() & Integer.MAX_VALUE, OFFSET_PARTITIONS));
    }

    private static void commit(List<String> groups, TopicPartition partition, long offset) {
        groups.forEach(group -> clusters.commit(group, Map.of(partition, new OffsetAndMetadata(offset))));
    }

    private static boolean areKept(List<String> groups, TopicPartition partition, long offset) {
        return groups.stream().allMatch(group -> {
            OffsetAndMetadata there = clusters.positionsOnTarget(group).get(partition);
            return there != null && there.offset() == offset;
        });
    }
}
