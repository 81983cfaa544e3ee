package dev.millrace.mirror.progress;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static dev.millrace.mirror.support.MirrorFixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.Numbered;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A mirror that does not begin with the first records leaves out what was there before it, and nothing else. */
@Tag("thorough")
class MirrorFromTheEndIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final String LATEST = "--source-setting=auto.offset.reset=latest";

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture();

    /** What appears is written to at once, before a mirror can know of it. */
    @ParameterizedTest
    @ValueSource(strings = {"--mode=auto", "--mode=records", "--mode=consumer", "--resume=exactly-once"})
    void shouldCopyTopicsAndPartitionsThatAppearFromTheirFirstRecord(String way) throws Exception {
        String name = "appears" + way.replaceAll("[^a-z]+", "-");
        TopicPartition old = new TopicPartition(name + "-old", 0);
        clusters.source().createTopic(old.topic(), 1, 1, Map.of());
        Numbered.write(clusters.source(), old, Numbered.values("before", 0, 10));
        List<TopicPartition> later = new ArrayList<>();

        try (MirrorProcess mirror = mirror(name, way)) {
            await("it keeps where it begins", () -> isPlaced(name, old), mirror);
            Numbered.write(clusters.source(), old, Numbered.values("r", 0, 10));
            later.add(createTopic(name + "-while-it-runs"));
            later.add(addPartition(old.topic(), 2));
            await("all is copied", () -> areCopied(later) && clusters.mirrored(old.topic()) >= 20, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
        later.add(createTopic(name + "-while-it-is-stopped"));
        later.add(addPartition(old.topic(), 3));
        try (MirrorProcess mirror = mirror(name, way)) {
            await("all is copied", () -> areCopied(later), mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }

        for (TopicPartition partition : later) {
            assertThat(Numbered.read(clusters.target(), partition))
                    .as(partition.toString())
                    .isEqualTo(Numbered.values("r", 0, 10));
        }
        assertThat(Numbered.read(clusters.target(), old)).isEqualTo(Numbered.values("r", 0, 10));
        try (MirrorProcess verify = start("verify", name, way, LATEST)) {
            assertThat(verify.awaitExit(STOP)).as(verify.output()).isZero();
            assertThat(verify.output())
                    .contains("the target does not have the first 10 records of the source: the mirror may have begun")
                    .doesNotContain("no longer");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--mode=auto", "--resume=exactly-once"})
    void shouldLeaveOutWhatWasThereBeforeSeveralProcessesStartTogether(String way) throws Exception {
        String name = "together" + way.replaceAll("[^a-z]+", "-");
        clusters.source().createTopic(name, 20, 1, Map.of());
        for (TopicPartition partition : Clusters.partitions(name, 20)) {
            Numbered.write(clusters.source(), partition, Numbered.values("before", 0, 10));
        }

        try (MirrorProcess first = mirror(name, way);
                MirrorProcess second = mirror(name, way)) {
            await(
                    "they keep where they begin",
                    () -> Clusters.partitions(name, 20).stream().allMatch(partition -> isPlaced(name, partition)),
                    first,
                    second);
            for (TopicPartition partition : Clusters.partitions(name, 20)) {
                Numbered.write(clusters.source(), partition, Numbered.values("r", 0, 10));
            }
            await("all is copied", () -> clusters.mirrored(name) >= 200, first, second);
            assertThat(first.terminate().awaitExit(STOP)).as(first.output()).isZero();
            assertThat(second.terminate().awaitExit(STOP)).as(second.output()).isZero();
        }

        for (TopicPartition partition : Clusters.partitions(name, 20)) {
            assertThat(Numbered.read(clusters.target(), partition))
                    .as(partition.toString())
                    .isEqualTo(Numbered.values("r", 0, 10));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--mode=auto", "--resume=exactly-once"})
    void shouldBeginEachTopicWhereItIsTold(String way) throws Exception {
        String name = "told" + way.replaceAll("[^a-z]+", "-");
        TopicPartition all = new TopicPartition(name + "-all", 0);
        TopicPartition since = new TopicPartition(name + "-since", 0);
        TopicPartition latest = new TopicPartition(name + "-latest", 0);
        for (TopicPartition partition : List.of(all, since, latest)) {
            clusters.source().createTopic(partition.topic(), 1, 1, Map.of());
            Numbered.write(clusters.source(), partition, Numbered.values("before", 0, 10));
        }
        long time = System.currentTimeMillis() + 1;
        await("later records have later timestamps", () -> System.currentTimeMillis() > time);
        Numbered.write(clusters.source(), since, Numbered.values("r", 0, 10));
        String[] starts = {
            way, "--start-at=.*-all=earliest", "--start-at=.*-since=" + Instant.ofEpochMilli(time), "--start-at=latest"
        };

        try (MirrorProcess plan = start("plan", name, starts)) {
            assertThat(plan.awaitExit(STOP)).as(plan.output()).isZero();
            assertThat(plan.output()).contains("3 topics, at most 20 records to mirror");
        }
        try (MirrorProcess mirror = start("run", name, starts)) {
            await("it keeps where it begins", () -> isPlaced(name, latest), mirror);
            Numbered.write(clusters.source(), latest, Numbered.values("r", 0, 10));
            await("all is copied", () -> areCopied(List.of(all, since, latest)), mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
        TopicPartition later = createTopic(name + "-later");
        try (MirrorProcess mirror = start("run", name, starts)) {
            await("all is copied", () -> areCopied(List.of(later)), mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            assertThat(mirror.output()).contains("begins with the first record of topic " + later.topic());
        }

        assertThat(Numbered.read(clusters.target(), all)).isEqualTo(Numbered.values("before", 0, 10));
        for (TopicPartition partition : List.of(since, latest, later)) {
            assertThat(Numbered.read(clusters.target(), partition))
                    .as(partition.toString())
                    .isEqualTo(Numbered.values("r", 0, 10));
        }
        try (MirrorProcess verify = start("verify", name, starts)) {
            assertThat(verify.awaitExit(STOP)).as(verify.output()).isZero();
        }
    }

    private static MirrorProcess mirror(String name, String way) {
        return start("run", name, way, LATEST);
    }

    private static MirrorProcess start(String command, String name, String... more) {
        List<String> args = new ArrayList<>(List.of(
                command,
                "--source=" + clusters.source().bootstrapServers(),
                "--target=" + clusters.target().bootstrapServers(),
                "--topics=" + name + ".*",
                "--group=" + name,
                "--source-setting=metadata.max.age.ms=2000"));
        args.addAll(List.of(more));
        return MirrorProcess.start(args.toArray(String[]::new));
    }

    private static TopicPartition createTopic(String topic) {
        clusters.source().createTopic(topic, 1, 1, Map.of());
        TopicPartition partition = new TopicPartition(topic, 0);
        Numbered.write(clusters.source(), partition, Numbered.values("r", 0, 10));
        return partition;
    }

    private static TopicPartition addPartition(String topic, int count) {
        get(clusters.source()
                .admin()
                .createPartitions(Map.of(topic, NewPartitions.increaseTo(count)))
                .all());
        TopicPartition partition = new TopicPartition(topic, count - 1);
        Numbered.write(clusters.source(), partition, Numbered.values("r", 0, 10));
        return partition;
    }

    /** At the source or at the target, as the mode is. */
    private static boolean isPlaced(String group, TopicPartition partition) {
        return clusters.positions(group).containsKey(partition)
                || clusters.positionsOnTarget(group).containsKey(partition);
    }

    private static boolean areCopied(List<TopicPartition> partitions) {
        return partitions.stream()
                .allMatch(partition -> MirrorFixture.partitions(clusters.target(), partition.topic())
                                > partition.partition()
                        && clusters.mirroredByPartition(partition.topic()).get(partition) >= 10);
    }
}
