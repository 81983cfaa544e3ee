package dev.millrace.mirror.cli;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code mirror plan} between two real clusters. */
class PlanCommandIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture();

    @TempDir
    private Path folder;

    @Test
    void shouldTellWhatWouldBeCreatedAndGrownAndChangeNothing() throws Exception {
        clusters.source().createTopic("plan-new", 3, 1, Map.of("retention.ms", "-1", "segment.bytes", "2000000"));
        clusters.source().createTopic("plan-small", 2, 1, Map.of());
        clusters.target().createTopic("plan-small", 1, 1, Map.of("cleanup.policy", "compact"));
        clusters.source().createTopic("plan-left.out", 1, 1, Map.of());
        clusters.fill("plan-new", 3, 1_000, 7);

        try (MirrorProcess plan = plan("plan-.*")) {
            assertThat(plan.awaitExit(PATIENCE)).as(plan.output()).isZero();

            assertThat(plan.output())
                    .containsPattern("plan-new +3 +1,000 +1,000 +create, 3 partitions")
                    .contains("with {retention.ms=-1, segment.bytes=2000000}")
                    .containsPattern("plan-small +2 +0 +0 +grow from 1 to 2 partitions")
                    .contains("settings there: reset [cleanup.policy]")
                    .contains("cleanup.policy is [delete] on the source and [compact] on the target")
                    .contains("2 topics, at most 1,000 records to mirror; nothing was changed");
        }
        assertThat(MirrorFixture.get(clusters.target().admin().listTopics().names()))
                .contains("plan-small")
                .doesNotContain("plan-new");
        assertThat(MirrorFixture.partitions(clusters.target(), "plan-small")).isEqualTo(1);
    }

    @Test
    void shouldCountFromWhereTheMirrorStopped() throws Exception {
        clusters.source().createTopic("copied", 1, 1, Map.of());
        clusters.fill("copied", 1, 1_000, 7);
        try (MirrorProcess mirror = clusters.mirror("copied", 1, ProducerKind.MILLRACE)) {
            await("all is committed", () -> clusters.committed("copied") == 1_000, mirror);
            assertThat(mirror.terminate().awaitExit(PATIENCE))
                    .as(mirror.output())
                    .isZero();
        }
        clusters.fill("copied", 1, 50, 8);

        try (MirrorProcess plan = plan("copied")) {
            assertThat(plan.awaitExit(PATIENCE)).as(plan.output()).isZero();
            assertThat(plan.output())
                    .containsPattern("copied +1 +1,050 +50 +none")
                    .containsPattern("[1-9][0-9.]* [kM]B at the source, [1-9][0-9.]* [kM]B at the target");
        }
        try (MirrorProcess plan = plan("copied", "resume: exactly-once")) {
            assertThat(plan.awaitExit(PATIENCE)).as(plan.output()).isZero();
            assertThat(plan.output()).containsPattern("copied +1 +1,050 +50 +none");
        }
    }

    @Test
    void shouldSayThatTheTargetHasATopicOfAlmostTheSameName() throws Exception {
        clusters.source().createTopic("almost.same", 1, 1, Map.of());
        clusters.target().createTopic("almost_same", 1, 1, Map.of());

        try (MirrorProcess plan = plan("almost.*")) {
            assertThat(plan.awaitExit(PATIENCE)).as(plan.output()).isEqualTo(1);
            assertThat(plan.output())
                    .containsPattern("almost.same +1 +0 +0 +none possible")
                    .contains("cannot be created: the target has topic almost_same");
        }
    }

    @Test
    void shouldSayThatAMirrorInTheOppositeDirectionRuns() throws Exception {
        expectOpposite("circle", "--resume=exact");
    }

    @Test
    void shouldSayThatAnExactlyOnceMirrorIsOnTheWayBack() throws Exception {
        expectOpposite(
                "circle-once",
                "--resume=exactly-once",
                "--group=millrace-mirror-from-"
                        + MirrorFixture.get(
                                clusters.target().admin().describeCluster().clusterId())
                        + "-back");
    }

    /** @param options of the mirror in the opposite direction */
    private void expectOpposite(String topic, String... options) throws Exception {
        clusters.source().createTopic(topic, 1, 1, Map.of());
        clusters.target().createTopic(topic, 1, 1, Map.of());
        List<String> arguments = new ArrayList<>(List.of(
                "run",
                "--source=" + clusters.target().bootstrapServers(),
                "--target=" + clusters.source().bootstrapServers(),
                "--topics=" + topic,
                "--status=1"));
        arguments.addAll(List.of(options));
        try (MirrorProcess back = MirrorProcess.start(arguments.toArray(String[]::new))) {
            await("the other mirror is assigned its partition", () -> back.hasPrinted("lag 0"), back);

            try (MirrorProcess plan = plan(topic)) {
                assertThat(plan.awaitExit(PATIENCE)).as(plan.output()).isEqualTo(1);
                assertThat(plan.output())
                        .contains(
                                "The mirror would not start: ",
                                "belongs to a mirror back to the source, of [" + topic + "]");
            }
        }
    }

    /** From one file. */
    private MirrorProcess plan(String topics, String... more) throws IOException {
        Path file = Files.writeString(
                folder.resolve("mirror.yaml"),
                """
                source: %s
                target:
                  bootstrap.servers: %s
                topics: ['%s']
                exclude-topics: ['.*out', 'none']
                group: %3$s
                threads: 2
                sync: [settings, quotas]
                """.formatted(
                                        clusters.source().bootstrapServers(),
                                        clusters.target().bootstrapServers(),
                                        topics)
                        + String.join("\n", more));
        return MirrorProcess.start("plan", "--config=" + file);
    }
}
