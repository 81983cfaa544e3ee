package dev.millrace.mirror.resume;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.kafka.common.protocol.ApiKeys;
import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.MovingLeaders;
import dev.millrace.mirror.support.SourceLoad;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.oracle.Comparison;
import dev.millrace.testkit.proxy.FaultProxy.Fault;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Mirrors that are killed, or stopped and continued, while the source is written to: each record is at the target once. */
@Timeout(3_600)
class ExactResumeIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final int PARTITIONS = 3;
    /** {@code -Dmillrace.kills=50} for more than CI has time for. */
    private static final int KILLS = Integer.getInteger("millrace.kills", 4);

    private static final int KILLS_OF_OLD = Integer.getInteger("millrace.kills", 1);

    private static final int LOST_ANSWERS = Integer.getInteger("millrace.kills", 1);

    private static final Pattern LEFT_OUT = Pattern.compile("the target has ([0-9,]+) records? after");

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture(
            source -> source.listeners(Listener.PROXIED),
            target -> target.brokers(3)
                    .listeners(Listener.PROXIED)
                    // By default ten minutes; what has records of more than a day ago is forgotten then.
                    .setting("producer.id.expiration.check.interval.ms", "1000"));

    private final long seed = Long.getLong("millrace.seed", System.nanoTime());
    private final Random random = new Random(seed);

    private final List<String> printed = new ArrayList<>();

    @TempDir
    private Path folder;

    /** With all but the first, the target has forgotten the producer of the mirror whenever another one starts. */
    @Tag("thorough")
    @ParameterizedTest(name = "records of {0} days ago")
    @ValueSource(ints = {0, 2, 1_000})
    void shouldWriteEachRecordOnceHoweverOftenItIsKilled(int days) throws Exception {
        String topic = "killed-" + days;
        int kills = days == 0 ? KILLS : KILLS_OF_OLD;
        clusters.source().createTopic(topic, PARTITIONS, 1, Map.of("retention.ms", "-1"));
        long uncommitted = 0;
        long leftOut = 0;
        long records;
        try (SourceLoad load = new SourceLoad(clusters, topic, topic, PARTITIONS, seed, Duration.ofDays(days))) {
            for (int kill = 0; kill < kills; kill++) {
                try (MirrorProcess mirror = mirror(topic, "group.instance.id=one\n")) {
                    long before = clusters.mirrored(topic);
                    long more = 1_000L + random.nextInt(4_000);
                    await("it writes", () -> clusters.mirrored(topic) > before + more, mirror);
                    if ((kill + days / 2) % 2 == 1) { // else it may be killed before its first commit
                        long committed = clusters.committed(topic);
                        await("it commits", () -> clusters.committed(topic) > committed, mirror);
                    }
                    await(
                            "some is not committed",
                            () -> clusters.mirrored(topic) > clusters.committed(topic) + 500,
                            mirror);
                    mirror.kill().awaitExit(STOP);
                    leftOut += leftOut(mirror);
                }
                if (days > 0) {
                    await("all producers are forgotten", () -> producers(topic) == 0);
                }
                uncommitted = clusters.mirrored(topic) - clusters.committed(topic);
            }
            records = load.stop();
        }
        long leftOutLast = copyTheRest(topic, records, "group.instance.id=one\n");

        Comparison comparison = clusters.compare(topic);
        System.out.printf(
                "%,d records, newest of %d days ago, %d kills, %,d left out, after the last kill %,d of %,d not committed: %s%n",
                records, days, kills, leftOut + leftOutLast, leftOutLast, uncommitted, comparison);
        assertExact(comparison);
        assertThat(leftOutLast).as("left out at the end").isGreaterThanOrEqualTo(uncommitted);
        assertThat(leftOut + leftOutLast).as("left out").isPositive();
    }

    @Test
    void shouldWriteEachRecordOnceWhenAStoppedMirrorGoesOnAfterAnotherHasTakenOver() throws Exception {
        assertExact(copyWhileAStoppedMirrorGoesOn(0));
    }

    /** The target has forgotten the producer, so it cannot refuse what the stopped mirror still sends. */
    @Tag("thorough")
    @ParameterizedTest(name = "records of {0} days ago")
    @ValueSource(ints = 2)
    void shouldLoseNothingWhenAStoppedMirrorOfOldRecordsGoesOnAfterAnotherHasTakenOver(int days) throws Exception {
        Comparison comparison = copyWhileAStoppedMirrorGoesOn(days);

        assertThat(comparison.lost()).as("%s, seed %d", comparison, seed).isZero();
        assertThat(comparison.misrouted()).as("%s, seed %d", comparison, seed).isZero();
        assertThat(comparison.unexpected()).as("%s, seed %d", comparison, seed).isZero();
    }

    private Comparison copyWhileAStoppedMirrorGoesOn(int days) throws Exception {
        String topic = "stopped-" + days;
        clusters.source().createTopic(topic, PARTITIONS, 1, Map.of("retention.ms", "-1"));
        String quickToMissAMember = "session.timeout.ms=1500\nheartbeat.interval.ms=300\n";
        long records;
        try (SourceLoad load = new SourceLoad(clusters, topic, topic, PARTITIONS, seed, Duration.ofDays(days));
                MirrorProcess first = mirror(topic, quickToMissAMember)) {
            await("the first writes", () -> clusters.mirrored(topic) > 2_000, first);
            first.freeze();
            try (MirrorProcess second = mirror(topic, quickToMissAMember)) {
                long before = clusters.committed(topic);
                await("the second commits", () -> clusters.committed(topic) > before + 5_000, second);
                first.thaw();
                long then = clusters.committed(topic);
                await("both are there", () -> clusters.committed(topic) > then + 10_000, first, second);
                records = load.stop();
                await("all is committed", () -> clusters.committed(topic) >= records, first, second);
                assertThat(second.terminate().awaitExit(STOP))
                        .as(second.output())
                        .isZero();
            }
            assertThat(first.terminate().awaitExit(STOP)).as(first.output()).isZero();
        }

        Comparison comparison = clusters.compare(topic);
        System.out.printf(
                "%,d records, newest of %d days ago, one mirror stopped and continued: %s%n",
                records, days, comparison);
        return comparison;
    }

    @Test
    @Tag("thorough")
    void shouldWriteEachRecordOnceWhenAnswersAreLostThatTheTargetDoesNotRemember() throws Exception {
        String topic = "answers-lost";
        clusters.source().createTopic(topic, PARTITIONS, 1, Map.of("retention.ms", "-1"));
        long records;
        try (SourceLoad load = new SourceLoad(clusters, topic, topic, PARTITIONS, seed, Duration.ofDays(30));
                MirrorProcess mirror = clusters.mirrorThrough(
                        Listener.PROXIED,
                        topic,
                        2,
                        ProducerKind.MILLRACE,
                        // The target is asked after that, and has forgotten by then.
                        "--target-setting=reconnect.backoff.ms=2000",
                        "--target-setting=reconnect.backoff.max.ms=2000")) {
            for (int lost = 0; lost < LOST_ANSWERS; lost++) {
                long before = clusters.committed(topic);
                await("it commits", () -> clusters.committed(topic) > before, mirror);
                clusters.target()
                        .proxy(1)
                        .failNext(ApiKeys.PRODUCE, Fault.DROP_RESPONSE)
                        .get();
            }
            records = load.stop();
            await("all is committed", () -> clusters.committed(topic) >= records, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            long leftOut = leftOut(mirror);
            Comparison comparison = clusters.compare(topic);
            System.out.printf(
                    "%,d records, %d answers lost, %,d left out: %s%n", records, LOST_ANSWERS, leftOut, comparison);
            assertExact(comparison);
            assertThat(leftOut).as("left out").isPositive();
        }
    }

    @Tag("thorough")
    @Test
    void shouldWriteEachRecordOnceWhenLeadersMoveAndItIsKilled() throws Exception {
        String topic = "leaders-move";
        Map<String, String> keepsAll = Map.of("retention.ms", "-1");
        clusters.source().createTopic(topic, PARTITIONS, 1, keepsAll);
        long records;
        try (MovingLeaders leaders = new MovingLeaders(clusters.target(), topic, PARTITIONS, keepsAll);
                SourceLoad load = new SourceLoad(clusters, topic, topic, PARTITIONS, seed, Duration.ofDays(30))) {
            for (int kill = 0; kill < KILLS; kill++) {
                try (MirrorProcess mirror = mirror(topic, "group.instance.id=one\n")) {
                    long moves = leaders.moves();
                    long committed = clusters.committed(topic);
                    await("leaders move", () -> leaders.moves() >= moves + 2 * PARTITIONS, mirror);
                    await("it commits", () -> clusters.committed(topic) > committed + 1_000, mirror);
                    mirror.kill().awaitExit(STOP);
                }
            }
            records = load.stop();
            copyTheRest(topic, records, "group.instance.id=one\n");
        }

        Comparison comparison = clusters.compare(topic);
        System.out.printf("%,d records, leaders moved, %d kills: %s%n", records, KILLS, comparison);
        assertExact(comparison);
    }

    private void assertExact(Comparison comparison) {
        assertThat(comparison).as("seed %d", seed).matches(Comparison::isExact);
        assertThat(printed).noneMatch(output -> output.contains("may be written twice"));
    }

    private static long producers(String topic) {
        List<TopicPartition> partitions = IntStream.range(0, PARTITIONS)
                .mapToObj(partition -> new TopicPartition(topic, partition))
                .toList();
        return MirrorFixture.get(
                        clusters.target().admin().describeProducers(partitions).all())
                .values()
                .stream()
                .mapToLong(state -> state.activeProducers().size())
                .sum();
    }

    private long copyTheRest(String topic, long records, String consumer) throws Exception {
        try (MirrorProcess mirror = mirror(topic, consumer)) {
            await("all is committed", () -> clusters.committed(topic) >= records, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            return leftOut(mirror);
        }
    }

    /** Passes large batches and opens small ones. */
    private MirrorProcess mirror(String topic, String consumer) throws Exception {
        Path file = Files.writeString(Files.createTempFile(folder, "consumer", ".properties"), consumer);
        return clusters.mirror(topic, 2, CopyMode.AUTO, "--consumer.config=" + file);
    }

    private long leftOut(MirrorProcess mirror) {
        printed.add(mirror.output());
        long records = 0;
        for (Matcher found = LEFT_OUT.matcher(mirror.output()); found.find(); ) {
            records += Long.parseLong(found.group(1).replace(",", ""));
        }
        return records;
    }
}
