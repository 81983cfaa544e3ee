package dev.millrace.mirror.member;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.support.HangingInterceptor;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.oracle.Comparison;
import dev.millrace.testkit.oracle.TopicDigest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several mirrors of the same clusters: which progress belongs to which mirror, and which may run side by side. */
@Tag("thorough")
class MirrorGroupsIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final int PARTITIONS = 3;
    private static final int RECORDS = 1_000;

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture();

    private final long seed = System.nanoTime();

    @TempDir
    private Path folder;

    @Test
    void shouldMirrorEverythingToEachOfTwoTargets() throws Exception {
        String topic = topic("fanned");
        clusters.fill(topic, PARTITIONS, RECORDS, seed);
        try (KafkaCluster second = KafkaCluster.builder().start();
                MirrorProcess toFirst = mirror(topic);
                MirrorProcess toSecond = mirror(clusters.source(), second, topic)) {
            await("all is committed", () -> committed(groupTo(second), topic) >= RECORDS, toFirst, toSecond);
            await("of the first too", () -> committed(groupTo(clusters.target()), topic) >= RECORDS, toFirst, toSecond);
            leave(toSecond);
            leave(toFirst);
            Comparison comparison = TopicDigest.read(clusters.source().clientConfig(), topic)
                    .compare(TopicDigest.read(second.clientConfig(), topic));
            assertThat(comparison).as("seed %d", seed).matches(Comparison::isExact);
        }
        assertThat(clusters.compare(topic)).as("seed %d", seed).matches(Comparison::isExact);
    }

    @Test
    void shouldRefuseAMirrorBackOfTheSameTopicsButNotOfOthers() throws Exception {
        String topic = topic("forth");
        clusters.target().createTopic("back", 1, 1, Map.of());
        clusters.fill(topic, PARTITIONS, RECORDS, seed);
        try (MirrorProcess forth = mirror(topic)) {
            await("it is at work", () -> clusters.mirrored(topic) >= RECORDS, forth);

            try (MirrorProcess back = mirror(clusters.target(), clusters.source(), "forth|back")) {
                assertThat(back.awaitExit(STOP)).as(back.output()).isEqualTo(1);
                assertThat(back.output()).contains("without end", groupTo(clusters.target()), "[forth]", "--topics");
            }
            try (MirrorProcess back = mirror(clusters.target(), clusters.source(), "back")) {
                await("it creates its topic", () -> MirrorFixture.partitions(clusters.source(), "back") == 1, back);
                leave(back);
            }
            leave(forth);
        }

        assertThat(clusters.compare(topic)).as("seed %d", seed).matches(Comparison::isExact);
    }

    @Test
    void shouldStopMirrorsInBothDirectionsThatStartedTogetherInGroupsOfAnyName() throws Exception {
        String topic = topic("circle");
        clusters.fill(topic, PARTITIONS, RECORDS, seed);
        clusters.target().createTopic(topic, PARTITIONS, 1, Map.of());

        try (MirrorProcess forth = mirror(topic, "--group=forth");
                MirrorProcess back = mirror(clusters.target(), clusters.source(), topic, "--group=back")) {
            // Each looks every 30 s. The first that finds the other ends; the other may then find none.
            await("one has ended", () -> !forth.isAlive() || !back.isAlive());
            MirrorProcess ended = forth.isAlive() ? back : forth;
            assertThat(ended.awaitExit(STOP)).as(ended.output()).isEqualTo(1);
            assertThat(ended.output()).contains("without end", "[circle]");
        }
    }

    @Test
    void shouldRefuseToMirrorAClusterToItself() throws Exception {
        String topic = topic("itself");

        try (MirrorProcess mirror = mirror(clusters.source(), clusters.source(), topic)) {
            assertThat(mirror.awaitExit(STOP)).as(mirror.output()).isEqualTo(1);
            assertThat(mirror.output()).contains("the same cluster");
        }
    }

    @Test
    void shouldMirrorWithTheNewGroupProtocol() throws Exception {
        String topic = topic("modern");
        clusters.fill(topic, PARTITIONS, RECORDS, seed);
        Path file = Files.writeString(folder.resolve("consumer.properties"), "group.protocol=consumer\n");
        String[] more = {"--threads=2", "--consumer.config=" + file};

        try (MirrorProcess first = mirror(topic, more)) {
            await("all is mirrored", () -> clusters.mirrored(topic) == RECORDS, first);
            try (MirrorProcess second = mirror(topic, more)) {
                await("partitions change hands", () -> members(groupTo(clusters.target())) == 2, first, second);
                clusters.fill(topic, PARTITIONS, RECORDS, seed + 1);
                await(
                        "the rest is committed too",
                        () -> committed(groupTo(clusters.target()), topic) == 2 * RECORDS,
                        first,
                        second);
                assertThat(second.terminate().awaitExit(STOP))
                        .as(second.output())
                        .isZero();
            }
            assertThat(first.terminate().awaitExit(STOP)).as(first.output()).isZero();
        }

        assertThat(clusters.compare(topic)).as("seed %d", seed).matches(Comparison::isExact);
    }

    @Test
    void shouldShareThePartitionsByTheirBytes() throws Exception {
        String group = "weighed";
        clusters.source().createTopic("weighed-heavy", 1, 1, Map.of());
        clusters.fill("weighed-heavy", 1, 30 * RECORDS, seed);
        String light = topic("weighed-light");
        clusters.fill(light, PARTITIONS, RECORDS, seed);
        try (MirrorProcess first = mirror("weighed-.*", "--group=" + group)) {
            await("it is at work", () -> committed(group, light) == RECORDS, first);
            assertThat(assignments(group)).containsOnly(1 + PARTITIONS);
            try (MirrorProcess second = mirror("weighed-.*", "--group=" + group)) {
                await("one has the heavy one", () -> assignments(group).equals(Set.of(1, PARTITIONS)), first, second);
                assertThat(second.terminate().awaitExit(STOP))
                        .as(second.output())
                        .isZero();
            }
            assertThat(first.terminate().awaitExit(STOP)).as(first.output()).isZero();
        }
    }

    @Test
    void shouldGiveThePartitionsOfAThreadThatHangsToAnotherMember() throws Exception {
        String topic = topic("hung");
        String group = "hung";
        clusters.fill(topic, PARTITIONS, RECORDS, seed);
        Path file = Files.writeString(
                folder.resolve("hanging.properties"),
                "max.poll.interval.ms=3000\ninterceptor.classes=" + HangingInterceptor.class.getName() + "\n");
        try (MirrorProcess hung = mirror(topic, "--group=" + group, "--consumer.config=" + file)) {
            await("it hangs", () -> hung.hasPrinted(HangingInterceptor.HANGS), hung);
            try (MirrorProcess other = mirror(topic, "--group=" + group)) {
                await("the other mirrors all", () -> committed(group, topic) == RECORDS, other);
                assertThat(other.terminate().awaitExit(STOP)).as(other.output()).isZero();
            }
        }
        assertThat(clusters.compare(topic)).as("seed %d", seed).matches(Comparison::isExact);
    }

    @Test
    void shouldKeepItsPartitionsWhenItIsRestartedUnderTheSameInstanceIds() throws Exception {
        String topic = topic("static");
        String group = "static"; // of its own, because its members stay in it until their sessions end
        String[] first = {"--group=" + group, "--threads=2", "--mode=consumer", instance("first")};
        String joined = "Successfully joined group";
        clusters.fill(topic, PARTITIONS, RECORDS, seed);
        try (MirrorProcess other = mirror(topic, "--group=" + group, "--verbose", instance("other"))) {
            Map<String, Set<TopicPartition>> before;
            long joins;
            try (MirrorProcess restarted = mirror(topic, first)) {
                await("all is committed", () -> committed(group, topic) == RECORDS, other, restarted);
                await("each has one", () -> owners(group).size() == PARTITIONS, other, restarted);
                before = owners(group);
                joins = other.countPrinted(joined);
                assertThat(restarted.terminate().awaitExit(STOP))
                        .as(restarted.output())
                        .isZero();
            }
            clusters.fill(topic, PARTITIONS, RECORDS, seed + 1);
            try (MirrorProcess restarted = mirror(topic, first)) {
                await("the rest too", () -> committed(group, topic) == 2 * RECORDS, other, restarted);

                assertThat(before).containsOnlyKeys("first-0", "first-1", "other-0");
                assertThat(owners(group)).isEqualTo(before);
                assertThat(other.countPrinted(joined)).as("no rebalance").isEqualTo(joins);
                assertThat(restarted.terminate().awaitExit(STOP))
                        .as(restarted.output())
                        .isZero();
            }
            assertThat(other.terminate().awaitExit(STOP)).as(other.output()).isZero();
        }
        assertThat(clusters.compare(topic)).as("seed %d", seed).matches(Comparison::isExact);
    }

    private String instance(String id) throws IOException {
        return "--consumer.config="
                + Files.writeString(
                        folder.resolve(id + ".properties"),
                        "group.instance.id=" + id + "\nheartbeat.interval.ms=300\n");
    }

    /** Which static member of a group that is not rebalancing has which partitions; of those that have any. */
    private static Map<String, Set<TopicPartition>> owners(String group) {
        ConsumerGroupDescription described = describe(group);
        return described.groupState() != GroupState.STABLE
                ? Map.of()
                : described.members().stream()
                        .filter(member -> !member.assignment().topicPartitions().isEmpty())
                        .collect(Collectors.toMap(
                                member -> member.groupInstanceId().orElseThrow(),
                                member -> member.assignment().topicPartitions()));
    }

    /** A mirror that is killed stays a member of its group for its session. */
    private static void leave(MirrorProcess mirror) throws InterruptedException {
        assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
    }

    /** A topic on the source. */
    private static String topic(String name) {
        clusters.source().createTopic(name, PARTITIONS, 1, Map.of());
        return name;
    }

    private static MirrorProcess mirror(String topics, String... more) {
        return mirror(clusters.source(), clusters.target(), topics, more);
    }

    /** Starts a mirror, without a group unless it is among the further options. */
    private static MirrorProcess mirror(KafkaCluster from, KafkaCluster to, String topics, String... more) {
        List<String> args = new ArrayList<>(List.of(
                "run",
                "--source=" + from.bootstrapServers(),
                "--target=" + to.bootstrapServers(),
                "--topics=" + topics));
        args.addAll(List.of(more));
        return MirrorProcess.start(args.toArray(String[]::new));
    }

    private static String groupTo(KafkaCluster target) {
        return "millrace-mirror-"
                + MirrorFixture.get(target.admin().describeCluster().clusterId());
    }

    private static long committed(String group, String topic) {
        return MirrorFixture.get(clusters.source()
                        .admin()
                        .listConsumerGroupOffsets(group)
                        .partitionsToOffsetAndMetadata())
                .entrySet()
                .stream()
                .filter(entry -> entry.getKey().topic().equals(topic))
                .mapToLong(entry -> entry.getValue().offset())
                .sum();
    }

    private static ConsumerGroupDescription describe(String group) {
        return MirrorFixture.get(clusters.source()
                        .admin()
                        .describeConsumerGroups(List.of(group))
                        .all())
                .get(group);
    }

    /** How many partitions members have. */
    private static Set<Integer> assignments(String group) {
        return describe(group).members().stream()
                .map(member -> member.assignment().topicPartitions().size())
                .collect(Collectors.toSet());
    }

    private static int members(String group) {
        return describe(group).members().size();
    }
}
