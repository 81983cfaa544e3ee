package dev.millrace.mirror.cutover;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.Numbered;
import dev.millrace.mirror.support.SourceLoad;
import dev.millrace.mirror.support.StockProducers;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code mirror cutover} beside writers and groups that do not know of it. */
@Tag("thorough")
class CutoverIT {
    private static final Duration STOP = Duration.ofMinutes(2);
    private static final int PARTITIONS = 2;
    private static final long ALL = Long.MAX_VALUE;

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture();

    private final long seed = System.nanoTime();

    @TempDir
    private Path folder;

    @Test
    void shouldMoveGroupsThatThenSeeTheRestOnce() throws Exception {
        String topic = "moved";
        clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
        List<String> groups = List.of(topic + "-g-classic", topic + "-g-consumer", topic + "-g-streams");
        Map<String, Map<Integer, List<Long>>> seen = new HashMap<>();
        groups.forEach(group -> seen.put(group, new HashMap<>()));
        try (MirrorProcess mirror = mirror(topic)) {
            try (SourceLoad load = new SourceLoad(clusters, topic, PARTITIONS, seed);
                    ReadingProgram classic = reader(true, groups.get(0), 1_000);
                    ReadingProgram consumer = reader(true, groups.get(1), 2_000);
                    ReadingProgram streams = reader(true, groups.get(2), ALL)) {
                await(
                        "all read, and the mirror copies",
                        () -> classic.count() >= 1_000
                                && consumer.count() >= 2_000
                                && streams.count() > 0
                                && clusters.committed(topic) > 1_000,
                        mirror);
                streams.stop();
                try (MirrorProcess cutover = cutover(topic)) {
                    await("it waits", () -> cutover.hasPrinted("still grow"), mirror, cutover);
                    await("it says who writes", () -> cutover.hasPrinted("is written by producer id"), mirror, cutover);
                    load.stop();
                    await("it waits", () -> cutover.hasPrinted("still have members"), mirror, cutover);
                    classic.stop();
                    consumer.stop();
                    assertThat(cutover.awaitExit(STOP)).as(cutover.output()).isZero();
                    assertThat(cutover.printed().filter(line -> line.contains("again at most")))
                            .hasSize(groups.size() * PARTITIONS)
                            .allMatch(line -> line.contains(" 0 again at most"));
                }
                classic.addTo(seen.get(groups.get(0)));
                consumer.addTo(seen.get(groups.get(1)));
                streams.addTo(seen.get(groups.get(2)));
            }
            for (String group : groups) {
                long left = clusters.written(topic) - count(seen.get(group));
                try (ReadingProgram there = reader(false, group, ALL)) {
                    await("all is read", () -> there.count() >= left, mirror);
                    there.stop();
                    there.addTo(seen.get(group));
                }
            }
        }
        Map<Integer, List<Long>> all = new HashMap<>();
        try (ReadingProgram whole = reader(true, topic + "-all-classic", ALL)) {
            await("all is read", () -> whole.count() >= clusters.written(topic));
            whole.stop();
            whole.addTo(all);
        }
        groups.forEach(group -> assertThat(seen.get(group).equals(all))
                .as("%s has seen each record once, in order; seed %d", group, seed)
                .isTrue());
    }

    @Test
    void shouldStopWhenTheMirrorFallsBehindAndWhenAGroupComesBack() throws Exception {
        String topic = "returned";
        String group = topic + "-g-classic";
        clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
        clusters.fill(topic, PARTITIONS, 100, seed);
        try (ReadingProgram reader = reader(true, group, ALL)) {
            await("all is read", () -> reader.count() == 100);
            reader.stop();
        }
        try (MirrorProcess mirror = mirror(topic)) {
            await("all is copied", () -> clusters.committed(topic) == 100, mirror);
            mirror.freeze();
            clusters.fill(topic, PARTITIONS, 10, seed + 1);
            try (MirrorProcess cutover = cutover(topic, "--quiet=1s", "--give-up-after=3s", "--verify=none")) {
                assertThat(cutover.awaitExit(STOP)).as(cutover.output()).isEqualTo(1);
                assertThat(cutover.output())
                        .contains("10 offsets to copy of 2 partitions (returned-0, returned-1)")
                        .contains("No group was moved, and the mirror goes on");
            }
            mirror.thaw();
            try (MirrorProcess cutover = cutover(topic, "--quiet=1s", "--keep-way-back")) {
                await("all is moved", () -> cutover.hasPrinted("stop the mirror now"), mirror, cutover);
                try (ReadingProgram reader = reader(true, group, ALL)) {
                    await("the group reads at the source again", () -> reader.count() == 10, cutover);
                    assertThat(mirror.terminate().awaitExit(STOP)).isZero();
                    assertThat(cutover.awaitExit(STOP)).as(cutover.output()).isEqualTo(1);
                }
                assertThat(cutover.output())
                        .contains(group + " still has members at the source")
                        .contains("Already moved: group " + group);
            }
        }
        try (MirrorProcess again = mirror(topic)) {
            await("the mirror goes on", () -> again.hasPrinted("lag 0"), again);
        }
    }

    @Test
    void shouldTellWhoseTransactionHangsAndAbortIt() throws Exception {
        String topic = "hanging";
        TopicPartition partition = new TopicPartition(topic, 0);
        clusters.source().createTopic(topic, 1, 1, Map.of());
        Numbered.write(clusters.source(), partition, Numbered.values("r", 0, 1));
        Map<String, Object> config = clusters.source().clientConfig();
        config.put("transactional.id", "hanging-writer");
        config.put("transaction.timeout.ms", 900_000);
        try (MirrorProcess mirror = mirror(topic);
                KafkaProducer<byte[], byte[]> writer = StockProducers.create(config)) {
            writer.initTransactions();
            writer.beginTransaction();
            writer.send(new ProducerRecord<>(topic, new byte[10]));
            writer.flush();
            await("it has copied what is committed", () -> clusters.committed(topic) == 1, mirror);
            try (MirrorProcess cutover = cutover(topic, "--give-up-after=1s")) {
                assertThat(cutover.awaitExit(STOP)).as(cutover.output()).isEqualTo(1);
                assertThat(cutover.output())
                        .contains("a transaction is open in partition hanging-0")
                        .contains("transactional id hanging-writer (transaction open since offset 1)");
            }
            try (MirrorProcess cutover = cutover(topic, "--verify=whole", "--quiet=1s", "--abort-transactions")) {
                assertThat(cutover.awaitExit(STOP)).as(cutover.output()).isZero();
                assertThat(cutover.output())
                        .contains("aborted the transaction of transactional id hanging-writer")
                        .contains("1 record compared, the same")
                        .contains("no group is moved: without --groups");
            }
            assertThatThrownBy(writer::commitTransaction).isInstanceOf(ProducerFencedException.class);
        }
    }

    @Test
    void shouldChangeNothingUnlessItIsToldAndTheMirrorRuns() throws Exception {
        String topic = "unmoved";
        clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
        clusters.target().createTopic(topic, PARTITIONS, 1, Map.of());
        try (MirrorProcess cutover = cutover(topic)) {
            assertThat(cutover.awaitExit(STOP)).as(cutover.output()).isEqualTo(1);
            assertThat(cutover.output()).contains("The mirror does not run: group " + topic + " on the source has no");
        }
        try (MirrorProcess swapped = MirrorProcess.start(
                "cutover",
                "--yes",
                "--source=" + clusters.target().bootstrapServers(),
                "--target=" + clusters.source().bootstrapServers(),
                "--topics=" + topic,
                "--group=" + topic)) {
            assertThat(swapped.awaitExit(STOP)).as(swapped.output()).isEqualTo(1);
            assertThat(swapped.output()).contains("The mirror does not run");
        }
        try (MirrorProcess back = MirrorProcess.start(clusters.arguments("run", topic, "--back"))) {
            assertThat(back.awaitExit(STOP)).as(back.output()).isEqualTo(1);
            assertThat(back.output()).contains("--back: group unmoved-back on the source has no position");
        }
        try (MirrorProcess mirror = mirror(topic);
                SourceLoad load = new SourceLoad(clusters, topic, PARTITIONS, seed)) {
            await("it copies", () -> clusters.committed(topic) > 1_000, mirror);
            try (MirrorProcess cutover = cutover(topic, "--give-up-after=3s", "--quiet=1h")) {
                assertThat(cutover.awaitExit(STOP)).as(cutover.output()).isEqualTo(1);
                assertThat(cutover.output())
                        .contains("After 3 s (--give-up-after)")
                        .contains("No group was moved, and the mirror goes on");
            }
            try (MirrorProcess fencing = cutover(topic, "--fence=acls")) {
                assertThat(fencing.awaitExit(STOP)).as(fencing.output()).isEqualTo(1);
                assertThat(fencing.output()).contains("the source cluster has no authorizer");
            }
            load.stop();
            try (MirrorProcess look = MirrorProcess.start(clusters.arguments("cutover", topic))) {
                assertThat(look.awaitExit(STOP)).as(look.output()).isZero();
                assertThat(look.output())
                        .contains("the mirror runs: group " + topic + " on the source has members")
                        .contains("nothing was changed: give --yes to do it");
            }
        }
    }

    private static long count(Map<Integer, List<Long>> records) {
        return records.values().stream().mapToLong(List::size).sum();
    }

    private ReadingProgram reader(boolean isAtSource, String group, long most) {
        KafkaCluster cluster = isAtSource ? clusters.source() : clusters.target();
        String topic = group.substring(0, group.indexOf('-'));
        String protocol = group.substring(group.lastIndexOf('-') + 1);
        return protocol.equals("streams")
                ? new StreamsReader(cluster, topic, group, folder.resolve(isAtSource ? "source" : "target"))
                : new GroupReader(cluster, topic, group, protocol, most);
    }

    private static MirrorProcess mirror(String topic) {
        return clusters.mirror(
                topic,
                1,
                CopyMode.AUTO,
                groups(topic, "--groups-interval=1s", "--status=1").toArray(String[]::new));
    }

    private static MirrorProcess cutover(String topic, String... more) {
        Stream<String> options = Stream.concat(Stream.of("--yes", "--status=1"), Stream.of(more));
        return MirrorProcess.start(clusters.arguments(
                "cutover", topic, Stream.concat(options, groups(topic)).toArray(String[]::new)));
    }

    /** Returns the options for the groups of a topic, and more, if the topic has groups. */
    private static Stream<String> groups(String topic, String... more) {
        return Set.of("moved", "returned").contains(topic)
                ? Stream.concat(Stream.of("--groups=" + topic + "-g.*"), Stream.of(more))
                : Stream.empty();
    }
}
