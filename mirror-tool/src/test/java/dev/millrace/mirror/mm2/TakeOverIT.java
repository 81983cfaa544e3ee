package dev.millrace.mirror.mm2;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static dev.millrace.mirror.support.MirrorFixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.SourceLoad;
import dev.millrace.testkit.mirrormaker.MavenJars;
import dev.millrace.testkit.mirrormaker.MirrorMaker2Config;
import dev.millrace.testkit.oracle.Comparison;
import dev.millrace.testkit.oracle.TopicDigest;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.GroupState;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The real MirrorMaker ends in the middle of its work, and a mirror goes on. */
@Tag("thorough")
@Tag("long")
class TakeOverIT {
    private static final Duration STOP = Duration.ofSeconds(60);
    private static final int PARTITIONS_OF_1 = 1; // of more, MirrorMaker 1 gives records without a key any
    private static final int PARTITIONS_OF_2 = 3;

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture();

    private final long seed = System.nanoTime();

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldGoOnWhereMirrorMaker1HasCommitted(boolean isKilled) throws Exception {
        String topic = isKilled ? "maker1-killed" : "maker1-stopped";
        clusters.source().createTopic(topic, PARTITIONS_OF_1, 1, Map.of());
        clusters.target().createTopic(topic, PARTITIONS_OF_1, 1, Map.of());
        try (SourceLoad load = new SourceLoad(clusters, topic, PARTITIONS_OF_1, seed)) {
            runMirrorMaker1(topic, isKilled);
            await("nothing of it is on its way any more", () -> isWithoutMembers(topic));
            goOn(topic, "", load, isKilled);
        }
    }

    /** Once with topics that keep their names, and once with MirrorMaker 2's default, the alias before them. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldGoOnWhereMirrorMaker2HasCommitted(boolean isKilledAndPrefixes) throws Exception {
        String topic = isKilledAndPrefixes ? "maker2-killed" : "maker2-stopped";
        String alias = topic + "-source";
        String prefix = isKilledAndPrefixes ? alias + "." : "";
        clusters.source().createTopic(topic, PARTITIONS_OF_2, 1, Map.of());
        try (SourceLoad load = new SourceLoad(clusters, topic, prefix + topic, PARTITIONS_OF_2, seed)) {
            runMirrorMaker2(topic, alias, prefix, isKilledAndPrefixes);
            await("its session is over", () -> !hasWorkers(alias));
            if (isKilledAndPrefixes) {
                assertThat(refuseTakeOver(topic, alias, ""))
                        .contains("The target does not have the last record that MirrorMaker 2 should have copied")
                        .contains("--topic-prefix " + prefix);
            }
            assertThat(takeOver(topic, alias, prefix, 0)).contains("3 of 3 partitions taken over; ");
            if (!isKilledAndPrefixes) {
                assertThat(refuseTakeOver(topic, alias, prefix))
                        .contains("Group " + topic + " on the source has offsets already");
            }
            goOn(topic, prefix, load, isKilledAndPrefixes);
        }
    }

    /** Mirrors the rest, and compares all. */
    private void goOn(String topic, String prefix, SourceLoad load, boolean isKilled) throws InterruptedException {
        long uncommitted = clusters.mirrored(prefix + topic) - clusters.committed(topic);
        long records;
        try (MirrorProcess mirror = clusters.mirror(topic, 1, CopyMode.AUTO, "--topic-prefix=" + prefix)) {
            long before = clusters.committed(topic);
            await("it goes on", () -> clusters.committed(topic) > before + 2_000, mirror);
            records = load.stop();
            await("all is committed", () -> clusters.committed(topic) >= records, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
        Comparison comparison = TopicDigest.read(clusters.source().clientConfig(), topic)
                .compare(TopicDigest.read(clusters.target().clientConfig(), prefix + topic));
        System.out.printf(
                "%s: %,d records, %,d of them not committed by MirrorMaker: %s%n",
                topic, records, uncommitted, comparison);
        assertThat(comparison.isCompleteWithDuplicates())
                .as("%s, seed %d", comparison, seed)
                .isTrue();
        assertThat(comparison.doubled()).as("seed %d", seed).isEqualTo(uncommitted);
        assertThat(uncommitted > 0).as("not committed, seed %d", seed).isEqualTo(isKilled);
    }

    private static boolean isWithoutMembers(String group) {
        return get(clusters.source()
                        .admin()
                        .describeConsumerGroups(List.of(group))
                        .describedGroups()
                        .get(group))
                .members()
                .isEmpty();
    }

    /** Runs MirrorMaker 1 until it has committed something, and ends it. */
    private void runMirrorMaker1(String topic, boolean isKilled) throws Exception {
        try (MavenJars jars = new MavenJars("mirrormaker1")) {
            Process maker = start(
                    jars,
                    "kafka.tools.MirrorMaker",
                    "--consumer.config="
                            + jars.store(
                                    "consumer.properties",
                                    Map.of(
                                            "bootstrap.servers",
                                            clusters.source().bootstrapServers(),
                                            "group.id",
                                            topic,
                                            "auto.offset.reset",
                                            "earliest",
                                            "session.timeout.ms",
                                            6_000)),
                    "--producer.config="
                            + jars.store(
                                    "producer.properties",
                                    Map.of(
                                            "bootstrap.servers",
                                            clusters.target().bootstrapServers())),
                    "--include=" + topic,
                    "--num.streams=1",
                    "--offset.commit.interval.ms=3000");
            try {
                await("MirrorMaker 1 commits, see " + log(), () -> clusters.committed(topic) > 0);
                awaitMore(topic);
                end(maker, isKilled);
            } finally {
                maker.destroyForcibly().waitFor();
            }
        }
    }

    /** As the other; while it runs, nothing can be taken over. */
    private void runMirrorMaker2(String topic, String alias, String prefix, boolean isKilled) throws Exception {
        String offsets = "mm2-offsets." + alias + ".internal";
        try (MavenJars jars = new MavenJars("mirrormaker2")) {
            Process maker = start(
                    jars,
                    "org.apache.kafka.connect.mirror.MirrorMaker",
                    jars.store("mm2.properties", mirrorMaker2Config(topic, alias, prefix))
                            .toString());
            try {
                await("MirrorMaker 2 commits, see " + log(), () -> clusters.mirrored(offsets) > 0);
                assertThat(refuseTakeOver(topic, alias, prefix))
                        .contains("MirrorMaker 2 still runs: its group " + alias);
                long commits = clusters.mirrored(offsets);
                await("it commits again, see " + log(), () -> clusters.mirrored(offsets) > commits);
                awaitMore(prefix + topic);
                end(maker, isKilled);
            } finally {
                maker.destroyForcibly().waitFor();
            }
        }
    }

    private static Map<String, Object> mirrorMaker2Config(String topic, String alias, String prefix) {
        Map<String, Object> config = MirrorMaker2Config.betweenSingleBrokers(
                alias,
                clusters.source().bootstrapServers(),
                "target",
                clusters.target().bootstrapServers(),
                topic);
        config.put("tasks.max", 2);
        if (prefix.isEmpty()) {
            config.putAll(MirrorMaker2Config.SAME_NAMES);
        }
        config.put("target.offset.flush.interval.ms", 2_000);
        config.put("target.session.timeout.ms", 6_000);
        config.put("target.heartbeat.interval.ms", 2_000);
        return config;
    }

    private static boolean hasWorkers(String alias) {
        return get(clusters.target().admin().listGroups().all()).stream()
                .filter(group -> group.groupId().equals(alias + "-mm2"))
                .anyMatch(group -> !group.groupState().equals(Optional.of(GroupState.EMPTY)));
    }

    private static String refuseTakeOver(String topic, String alias, String prefix) throws InterruptedException {
        return takeOver(topic, alias, prefix, 1);
    }

    private static String takeOver(String topic, String alias, String prefix, int exitCode)
            throws InterruptedException {
        try (MirrorProcess command = MirrorProcess.start(
                "take-over",
                "--from-mm2=" + alias,
                "--source=" + clusters.source().bootstrapServers(),
                "--target=" + clusters.target().bootstrapServers(),
                "--topics=" + topic,
                "--topic-prefix=" + prefix,
                "--group=" + topic)) {
            assertThat(command.awaitExit(STOP)).as(command.output()).isEqualTo(exitCode);
            System.out.println(command.output());
            return command.output();
        }
    }

    private Process start(MavenJars jars, String main, String... args) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(MavenJars.LOGGING);
        command.addAll(List.of("-Xmx256m", "-cp", jars.classPath(), main));
        command.addAll(List.of(args));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log())
                .start();
    }

    private File log() {
        return folder.resolve("maker.log").toFile();
    }

    private void awaitMore(String topic) {
        long mirrored = clusters.mirrored(topic);
        await("it goes on, see " + log(), () -> clusters.mirrored(topic) > mirrored + 3_000);
    }

    private static void end(Process maker, boolean isKilled) throws InterruptedException {
        if (!isKilled) {
            maker.toHandle().destroy();
            assertThat(maker.waitFor(STOP.toSeconds(), TimeUnit.SECONDS))
                    .as("ends")
                    .isTrue();
        }
    }
}
