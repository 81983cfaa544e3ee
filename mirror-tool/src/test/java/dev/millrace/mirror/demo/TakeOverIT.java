package dev.millrace.mirror.demo;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.CopyMode;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.SourceLoad;
import dev.millrace.testkit.oracle.Comparison;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The real MirrorMaker 1 ends in the middle of its work, and a mirror in its group goes on. */
@Timeout(300)
class TakeOverIT {
    private static final Duration STOP = Duration.ofSeconds(60);
    private static final int PARTITIONS = 1; // of more, MirrorMaker 1 gives records without a key any

    private static MirrorFixture clusters;

    private final long seed = System.nanoTime();

    @TempDir
    private Path folder;

    @BeforeAll
    static void startClusters() {
        clusters = new MirrorFixture();
    }

    @AfterAll
    static void stopClusters() {
        clusters.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldGoOnWhereMirrorMaker1HasCommitted(boolean isKilled) throws Exception {
        String topic = isKilled ? "maker1-killed" : "maker1-stopped";
        clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
        clusters.target().createTopic(topic, PARTITIONS, 1, Map.of());
        long uncommitted;
        long records;
        try (SourceLoad load = new SourceLoad(clusters, topic, PARTITIONS, seed)) {
            endMirrorMaker(topic, isKilled);
            await("nothing of it is on its way any more", () -> isWithoutMembers(topic));
            uncommitted = clusters.mirrored(topic) - clusters.committed(topic);
            try (MirrorProcess mirror = clusters.mirror(topic, 1, CopyMode.AUTO)) {
                long before = clusters.committed(topic);
                await("it goes on", () -> clusters.committed(topic) > before + 2_000, mirror);
                records = load.stop();
                await("all is committed", () -> clusters.committed(topic) >= records, mirror);
                assertThat(mirror.terminate().awaitExit(STOP))
                        .as(mirror.output())
                        .isZero();
            }
        }

        Comparison comparison = clusters.compare(topic);
        System.out.printf(
                "%,d records, %,d of them not committed by MirrorMaker 1: %s%n", records, uncommitted, comparison);
        assertThat(comparison.isCompleteWithDuplicates())
                .as("%s, seed %d", comparison, seed)
                .isTrue();
        assertThat(comparison.doubled()).as("seed %d", seed).isEqualTo(uncommitted);
        assertThat(uncommitted > 0).as("not committed, seed %d", seed).isEqualTo(isKilled);
    }

    private static boolean isWithoutMembers(String group) {
        return MirrorFixture.get(clusters.source()
                        .admin()
                        .describeConsumerGroups(List.of(group))
                        .describedGroups()
                        .get(group))
                .members()
                .isEmpty();
    }

    /** Runs MirrorMaker 1 until it has committed something, and ends it. */
    private void endMirrorMaker(String topic, boolean isKilled) throws IOException, InterruptedException {
        File log = folder.resolve("maker.log").toFile();
        try (MavenJars jars = new MavenJars("mirrormaker1")) {
            List<String> command = new ArrayList<>();
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(MavenJars.LOGGING);
            command.addAll(List.of(
                    "-Xmx256m",
                    "-cp",
                    jars.classPath(),
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
                    "--offset.commit.interval.ms=3000"));
            Process maker = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log)
                    .start();
            try {
                await("MirrorMaker 1 commits, see " + log, () -> clusters.committed(topic) > 0);
                long mirrored = clusters.mirrored(topic);
                await("it goes on, see " + log, () -> clusters.mirrored(topic) > mirrored + 3_000);
                if (!isKilled) {
                    maker.toHandle().destroy();
                    assertThat(maker.waitFor(STOP.toSeconds(), TimeUnit.SECONDS))
                            .as("ends")
                            .isTrue();
                }
            } finally {
                maker.destroyForcibly().waitFor();
            }
        }
    }
}
