package dev.millrace.mirror.cli;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.testkit.oracle.Comparison;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;

/** Mirrors of real clusters whose topics are paused, resumed and throttled by the commands. */
@Tag("thorough")
class TopicControlsIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final int PARTITIONS = 2;
    private static final int RECORDS = 1_000;
    /** So many in a second are not copied here. */
    private static final int BACKLOG = 20_000;

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture();

    @TempDir
    private Path folder;

    private Path token;

    @BeforeEach
    void writeToken() throws IOException {
        token = Files.writeString(folder.resolve("token"), "0123456789abcdef\n");
    }

    @ParameterizedTest
    @CsvSource({"AUTO, exact", "AUTO, exactly-once", "CONSUMER, at-least-once"})
    void shouldPauseOneTopicWhileAnotherGoesOnAndLoseNothing(CopyMode mode, String resume) throws Exception {
        String still = "still-" + mode + resume;
        String moving = "moving-" + mode + resume;
        for (String topic : List.of(still, moving)) {
            clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
            clusters.fill(topic, PARTITIONS, RECORDS, 1);
        }
        try (MirrorProcess mirror = clusters.mirror(
                still + "|" + moving, 1, mode, "--resume=" + resume, "--http=0", "--http-token-file=" + token)) {
            await("it tells its address", () -> mirror.httpAddress().isPresent(), mirror);
            await(
                    "all is mirrored",
                    () -> records(mirror, still) == RECORDS && records(mirror, moving) == RECORDS,
                    mirror);

            await("it knows its partitions", () -> value(mirror, "assigned_partitions", "") == 2 * PARTITIONS, mirror);

            assertThat(execute("pause", mirror, "--topics", "still-.*"))
                    .contains("Paused topics still-.*; in this process these are 2 partitions of " + still);
            // Whoever has copied these has heard of the pause: first the thread that counts, then that which fetches.
            moveOn(mirror, moving, 2);
            moveOn(mirror, moving, 3);
            clusters.fill(still, PARTITIONS, BACKLOG, 2);
            moveOn(mirror, moving, 4);

            await("the lag grows", () -> value(mirror, "lag_records", still) == BACKLOG, mirror);
            await("all that it would wait for is paused", () -> value(mirror, "catch_up_seconds", "") == 0, mirror);
            moveOn(mirror, moving, 5);
            assertThat(records(mirror, still)).isEqualTo(RECORDS);
            assertThat(mirror.get("readyz").statusCode()).isEqualTo(200);
            assertThat(value(mirror, "paused", still)).isEqualTo(1);
            assertThat(value(mirror, "paused_partitions", "")).isEqualTo(PARTITIONS);
            assertThat(value(mirror, "stalled_partitions", "")).isZero();
            assertThat(execute("status", mirror))
                    .contains("running, ready", "paused: still-.*", still + "-0", "asked for over HTTP by 127.0.0.1");

            assertThat(execute("resume", mirror)).contains("Resumed all topics");
            await("the rest is mirrored", () -> records(mirror, still) == RECORDS + BACKLOG, mirror);
            // With exactly-once they become visible when the transaction ends.
            await("it is there", () -> clusters.compareForCommittedReader(still).isExact(), mirror);
            await(
                    "the other, too",
                    () -> clusters.compareForCommittedReader(moving).isExact(),
                    mirror);

            execute("pause", mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
    }

    private void moveOn(MirrorProcess mirror, String topic, int times) {
        clusters.fill(topic, PARTITIONS, RECORDS, times);
        await("it goes on with " + topic, () -> records(mirror, topic) == times * RECORDS, mirror);
    }

    @ParameterizedTest
    @EnumSource(names = {"AUTO", "CONSUMER"})
    void shouldCopyNoFasterThanTheLimitUntilItIsTakenOff(CopyMode mode) throws Exception {
        double limit = 20_000;
        double step = 64 << 10; // more than is read of a partition at once
        String topic = "throttled-" + mode;
        clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
        clusters.fill(topic, PARTITIONS, 40_000, 1, Map.of("batch.size", 10_000));
        try (MirrorProcess mirror = clusters.mirror(
                topic, 2, mode, "--http=0", "--http-token-file=" + token, "--throttle=" + topic + "=20KB")) {
            await("it tells its address", () -> mirror.httpAddress().isPresent(), mirror);
            await("it begins", () -> value(mirror, "bytes_total", topic) > 0, mirror);
            double begin = value(mirror, "bytes_total", topic);
            long start = System.nanoTime();
            await(
                    "some is copied",
                    () -> {
                        double copied = value(mirror, "bytes_total", topic) - begin;
                        double seconds = (System.nanoTime() - start) / 1e9;
                        assertThat(copied).isLessThanOrEqualTo(limit * (seconds + 1) + PARTITIONS * step);
                        return copied > 3 * limit;
                    },
                    mirror);
            assertThat(value(mirror, "throttle_bytes_per_second", topic)).isEqualTo(limit);
            assertThat(value(mirror, "stalled_partitions", "")).isZero();
            assertThat(mirror.get("readyz").statusCode()).isEqualTo(200);

            assertThat(execute("throttle", mirror, "--topics", topic, "--bytes-per-second", "none"))
                    .contains("Took the limit off topics " + topic);
            await("all is mirrored", () -> records(mirror, topic) == 40_000, mirror);
            assertThat(value(mirror, "bytes_total", topic))
                    .as("more than the limit allows while one waits for it")
                    .isGreaterThan(60 * limit);
            assertThat(clusters.compare(topic)).matches(Comparison::isExact);
        }
    }

    @Test
    void shouldTakeNoChangesWithoutAToken() throws Exception {
        try (MirrorProcess mirror = clusters.mirror("nothing", 1, CopyMode.AUTO, "--http=0", "--wait-at-start=5m")) {
            await("it tells its address", () -> mirror.httpAddress().isPresent(), mirror);

            assertThat(execute("pause", mirror)).contains("it has no token; start it with --http-token-file FILE");
        }
    }

    private String execute(String command, MirrorProcess mirror, String... more) {
        List<String> args = new ArrayList<>(
                List.of(command, mirror.httpAddress().orElseThrow().getAuthority()));
        args.addAll(List.of(more));
        if (!command.equals("status")) {
            args.add("--http-token-file=" + token);
        }
        StringWriter out = new StringWriter();
        CommandLine main = Main.commandLine((stop, left) -> {})
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(out, true));
        int exit = Main.execute(main, args.toArray(String[]::new));
        assertThat(exit).as(out.toString()).isEqualTo(out.toString().contains("no token") ? 1 : 0);
        return out.toString();
    }

    private double records(MirrorProcess mirror, String topic) {
        return value(mirror, "records_total", topic);
    }

    /** The sum of a metric's samples, of one topic if one is given. */
    private double value(MirrorProcess mirror, String name, String topic) {
        return mirror.get("metrics")
                .body()
                .lines()
                .filter(line -> line.matches("millrace_mirror_" + name + "[{ ].*")
                        && line.contains(topic.isEmpty() ? "" : "topic=\"" + topic + "\""))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }
}
