package dev.millrace.mirror.member;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.MovingLeaders;
import dev.millrace.mirror.support.SourceLoad;
import dev.millrace.testkit.oracle.Comparison;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Mirrors with {@code --resume exactly-once} that are killed, or stopped and continued, while the source is written to:
 * a reader of committed records finds each once, in order.
 */
@Timeout(3_600)
class ExactlyOnceIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final int PARTITIONS = 3;
    /** {@code -Dmillrace.kills=20} for more than CI has time for. */
    private static final int KILLS = Integer.getInteger("millrace.kills", 2);

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture(
            source -> source,
            target -> target.brokers(3)
                    .setting("group.min.session.timeout.ms", "1000")
                    .setting("producer.id.expiration.check.interval.ms", "1000")
                    .setting("transaction.abort.timed.out.transaction.cleanup.interval.ms", "500"));

    private final long seed = Long.getLong("millrace.seed", System.nanoTime());
    private final Random random = new Random(seed);

    @TempDir
    private Path folder;

    @Tag("thorough")
    @Test
    void shouldShowEachRecordOnceHoweverOftenItIsKilledAfterAMirrorOfAnotherMode() throws Exception {
        String topic = "killed";
        clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
        long records;
        try (SourceLoad load = new SourceLoad(clusters, topic, PARTITIONS, seed)) {
            try (MirrorProcess before = clusters.mirror(topic, 2, CopyMode.AUTO)) {
                await("it commits", () -> clusters.committed(topic) > 5_000, before);
                assertThat(before.terminate().awaitExit(STOP))
                        .as(before.output())
                        .isZero();
            }
            for (int kill = 0; kill < KILLS; kill++) {
                try (MirrorProcess mirror = mirror(topic, kill % 4 == 3 ? "" : "group.instance.id=one\n")) {
                    long committed = clusters.committedOnTarget(topic);
                    long more = 1_000L + random.nextInt(10_000);
                    await("it commits", () -> clusters.committedOnTarget(topic) > committed + more, mirror);
                    LockSupport.parkNanos(random.nextInt(500_000_000)); // anywhere in a transaction
                    mirror.kill().awaitExit(STOP);
                    assertThat(mirror.output()).doesNotContain("aborted");
                }
            }
            records = load.stop();
        }
        try (MirrorProcess mirror = mirror(topic, "group.instance.id=one\n")) {
            clusters.awaitCommittedOnTarget(topic, records, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }

        Comparison comparison = clusters.compareForCommittedReader(topic);
        System.out.printf(
                "%,d records, %d kills, %,d offsets on the target: %s%n",
                records, KILLS, clusters.mirrored(topic), comparison);
        assertThat(comparison).as("seed %d", seed).matches(Comparison::isExact);
        try (MirrorProcess other = clusters.mirror(topic, 1, CopyMode.AUTO)) {
            assertThat(other.awaitExit(STOP)).isOne();
            assertThat(other.output()).contains("Group killed on the target has the progress");
        }
    }

    @Tag("thorough")
    @Test
    void shouldCommitNothingOfAStoppedMirrorThatGoesOnAfterAnotherHasTakenOver() throws Exception {
        String topic = "stopped";
        clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
        String quickToMissAMember = "session.timeout.ms=1500\nheartbeat.interval.ms=300\n";
        long records;
        try (SourceLoad load = new SourceLoad(clusters, topic, PARTITIONS, seed);
                MirrorProcess first = mirror(topic, quickToMissAMember)) {
            await("the first writes", () -> clusters.committedOnTarget(topic) > 2_000, first);
            first.freeze();
            try (MirrorProcess second = mirror(topic, quickToMissAMember)) {
                long before = clusters.committedOnTarget(topic);
                await("the second commits", () -> clusters.committedOnTarget(topic) > before + 5_000, second);
                first.thaw();
                await("the first sees that it was away", () -> first.hasPrinted("is aborted"), first, second);
                long then = clusters.committedOnTarget(topic);
                await("both are there", () -> clusters.committedOnTarget(topic) > then + 10_000, first, second);
                records = load.stop();
                clusters.awaitCommittedOnTarget(topic, records, first, second);
                assertThat(second.terminate().awaitExit(STOP))
                        .as(second.output())
                        .isZero();
            }
            assertThat(first.terminate().awaitExit(STOP)).as(first.output()).isZero();
        }

        Comparison comparison = clusters.compareForCommittedReader(topic);
        System.out.printf("%,d records, one mirror stopped and continued: %s%n", records, comparison);
        assertThat(comparison).as("seed %d", seed).matches(Comparison::isExact);
    }

    @Tag("thorough")
    @ParameterizedTest(name = "records of {0} days ago")
    @ValueSource(ints = {0, 30})
    void shouldShowEachRecordOnceWhenLeadersMoveAndItIsKilled(int days) throws Exception {
        String topic = "leaders-move-" + days;
        Map<String, String> keepsAll = Map.of("retention.ms", "-1");
        clusters.source().createTopic(topic, PARTITIONS, 1, keepsAll);
        long records;
        try (MovingLeaders leaders = new MovingLeaders(clusters.target(), topic, PARTITIONS, keepsAll);
                SourceLoad load = new SourceLoad(clusters, topic, topic, PARTITIONS, seed, Duration.ofDays(days))) {
            try (MirrorProcess mirror = mirror(topic, "group.instance.id=one\n")) {
                long moves = leaders.moves();
                await("leaders move", () -> leaders.moves() >= moves + 4 * PARTITIONS, mirror);
                await("it commits", () -> clusters.committedOnTarget(topic) > 5_000, mirror);
                mirror.kill().awaitExit(STOP);
            }
            records = load.stop();
            try (MirrorProcess mirror = mirror(topic, "group.instance.id=one\n", "--verbose")) {
                clusters.awaitCommittedOnTarget(topic, records, mirror);
                assertThat(mirror.terminate().awaitExit(STOP))
                        .as(mirror.output())
                        .isZero();
            }
        }

        Comparison comparison = clusters.compareForCommittedReader(topic);
        System.out.printf("%,d records, newest of %d days ago, leaders moved: %s%n", records, days, comparison);
        assertThat(comparison).as("seed %d", seed).matches(Comparison::isExact);
    }

    /** Passes large batches and opens small ones. */
    private MirrorProcess mirror(String topic, String consumer, String... more) throws Exception {
        List<String> options = new ArrayList<>(List.of(
                "--resume=exactly-once",
                "--consumer.config=" + file(consumer),
                "--producer.config=" + file("transaction.timeout.ms=5000\n")));
        options.addAll(List.of(more));
        return clusters.mirror(topic, 2, CopyMode.AUTO, options.toArray(String[]::new));
    }

    private Path file(String properties) throws Exception {
        return Files.writeString(Files.createTempFile(folder, "client", ".properties"), properties);
    }
}
