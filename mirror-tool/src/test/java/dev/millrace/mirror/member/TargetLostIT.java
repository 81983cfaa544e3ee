package dev.millrace.mirror.member;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static dev.millrace.mirror.support.MirrorFixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.cli.MirrorOptions;
import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.progress.CommitMetadata;
import dev.millrace.mirror.run.MirrorPlan;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.Numbered;
import dev.millrace.mirror.topics.TopicPlan;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;

/** The target has lost what a mirror had copied: all of it, or a topic. */
@Tag("thorough")
class TargetLostIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final int OLD = 300;
    private static final int ALL = 400;

    @AutoClose
    private static MirrorFixture clusters;

    /** Where the broker of the target has its logs. */
    @TempDir
    private static Path data;

    @BeforeAll
    static void startClusters() {
        clusters = new MirrorFixture(source -> source, target -> target.dataFolder(1, data));
    }

    /** Ways to copy and to keep progress. */
    private enum Way {
        CONSUMER("--mode=consumer"),
        RECORDS("--mode=records"),
        AUTO("--mode=auto"),
        EXACTLY_ONCE("--mode=auto --resume=exactly-once");

        private final String options;

        Way(String options) {
            this.options = options;
        }

        OffsetAndMetadata committed(TopicPartition partition) {
            return (this == EXACTLY_ONCE
                            ? clusters.positionsOnTarget(partition.topic())
                            : clusters.positions(partition.topic()))
                    .get(partition);
        }

        boolean hasCommitted(TopicPartition partition, long offset) {
            OffsetAndMetadata committed = committed(partition);
            return committed != null && committed.offset() == offset;
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"CONSUMER", "AUTO", "EXACTLY_ONCE"})
    void shouldCopyAgainWhatATargetHasLostThatWasFormattedWhileTheMirrorWasStopped(Way way) throws Exception {
        TopicPartition partition = createAndCopy("setup-" + way, way);

        clusters.target().format();
        Numbered.write(clusters.source(), partition, Numbered.values("r", OLD, ALL));
        String output = mirrorUntil(way, partition, ALL);

        assertThat(Numbered.read(clusters.target(), partition)).as(output).isEqualTo(Numbered.values("r", 0, ALL));
    }

    @ParameterizedTest
    @EnumSource(names = {"CONSUMER", "AUTO", "EXACTLY_ONCE"})
    void shouldCopyAgainATopicThatWasDeletedFromTheTargetWhileItRuns(Way way) throws Exception {
        TopicPartition partition = create("running-" + way);
        String output;
        try (MirrorProcess mirror = mirror(way, partition)) {
            await("the first are committed", () -> way.hasCommitted(partition, OLD), mirror);
            delete(partition);
            Numbered.write(clusters.source(), partition, Numbered.values("r", OLD, ALL));
            await("all is there", () -> clusters.mirrored(partition.topic()) >= ALL, mirror);
            await("all is committed", () -> way.hasCommitted(partition, ALL), mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            output = mirror.output();
        }
        assertThat(Numbered.read(clusters.target(), partition)).as(output).isEqualTo(Numbered.values("r", 0, ALL));
    }

    @Tag("long")
    @ParameterizedTest
    @EnumSource(names = {"CONSUMER", "AUTO"})
    void shouldDoWhatThePolicySaysAboutATopicThatWasCreatedAnewAndSayItInThePlan(Way way) throws Exception {
        TopicPartition partition = createAndCopy("anew-" + way, way);
        delete(partition);
        clusters.target().createServedTopic(partition.topic(), 1, 1, Map.of());
        Numbered.write(clusters.source(), partition, Numbered.values("r", OLD, ALL));
        String told = "was created anew on the target, and what was copied is lost there, 300 records at most; ";

        assertThat(plan(way, partition).toMirror()).isEqualTo(ALL);
        assertThat(plan(way, partition).notes()).contains(told + "they are copied again (--on-target-lost copy-again)");
        assertThat(plan(way, partition, "--on-target-lost=go-on").toMirror()).isEqualTo(ALL - OLD);
        assertThat(plan(way, partition, "--on-target-lost=stop-partition").toMirror())
                .isZero();

        try (MirrorProcess mirror = mirror(way, partition, "--on-target-lost=stop-partition")) {
            await("it is told", () -> mirror.hasPrinted("The mirror stops these partitions"), mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            assertThat(mirror.output())
                    .containsOnlyOnce("by partitions these offsets of the source: {0=0 to 299}. The mirror stops");
        }
        assertThat(way.hasCommitted(partition, OLD)).isTrue();
        assertThat(clusters.mirrored(partition.topic())).isZero();

        mirrorUntil(way, partition, ALL, "--on-target-lost=go-on");
        List<String> afterLoss = Numbered.values("r", OLD, ALL);
        assertThat(Numbered.read(clusters.target(), partition)).isEqualTo(afterLoss);
        Numbered.write(clusters.source(), partition, Numbered.values("r", ALL, ALL + 10));
        mirrorUntil(way, partition, ALL + 10);
        assertThat(Numbered.read(clusters.target(), partition))
                .as("it is told and decided once")
                .isEqualTo(Numbered.values("r", OLD, ALL + 10));
    }

    @ParameterizedTest
    @EnumSource(names = {"RECORDS", "AUTO"})
    void shouldCopyAgainWhatALogLostFromItsEndAndSayItInThePlan(Way way) throws Exception {
        TopicPartition partition = createAndCopy("tail-" + way, way);
        Numbered.write(clusters.source(), partition, Numbered.values("r", OLD, ALL));
        mirrorUntil(way, partition, ALL); // batches of their own
        loseEndOfLog(partition);
        long left = clusters.mirrored(partition.topic());
        assertThat(left).isLessThan(ALL);

        assertThat(plan(way, partition).notes())
                .contains(
                        "the target has lost the last " + (ALL - left) + " records that it had acknowledged, at least;"
                                + " they are copied again (--on-target-lost copy-again)");
        assertThat(plan(way, partition).toMirror()).isEqualTo(ALL - left);
        Numbered.write(clusters.source(), partition, Numbered.values("r", ALL, ALL + 10));
        assertThat(mirrorUntil(way, partition, ALL + 10))
                .contains("Offsets " + left + " to " + (ALL - 1) + " of the source are missing there");

        assertThat(Numbered.read(clusters.target(), partition)).isEqualTo(Numbered.values("r", 0, ALL + 10));
    }

    @Tag("long")
    @Test
    void shouldDoWhatThePolicySaysAboutALogThatIsLostWhole() throws Exception {
        TopicPartition partition = createAndCopy("whole", Way.AUTO);
        clusters.target().kill(1);
        clusters.target().removeData(1);
        clusters.target().restart(1);
        await("the target serves", () -> clusters.mirrored(partition.topic()) == 0);
        Numbered.write(clusters.source(), partition, Numbered.values("r", OLD, ALL));

        assertThat(plan(Way.AUTO, partition, "--on-target-lost=stop-partition").toMirror())
                .isZero();
        try (MirrorProcess mirror = mirror(Way.AUTO, partition, "--on-target-lost=stop-partition")) {
            await("it is told", () -> mirror.hasPrinted("The mirror stops this partition"), mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
        assertThat(Way.AUTO.hasCommitted(partition, OLD)).isTrue();
        assertThat(clusters.mirrored(partition.topic())).isZero();

        mirrorUntil(Way.AUTO, partition, ALL, "--on-target-lost=go-on");
        assertThat(Numbered.read(clusters.target(), partition)).isEqualTo(Numbered.values("r", OLD, ALL));
    }

    /** Kills the broker, and cuts off the last batch: it recovers the log up to there. */
    private static void loseEndOfLog(TopicPartition partition) throws IOException {
        clusters.target().kill(1);
        Path log = data.resolve(partition.toString()).resolve("00000000000000000000.log");
        try (FileChannel file = FileChannel.open(log, StandardOpenOption.WRITE)) {
            file.truncate(file.size() - 1);
        }
        clusters.target().restart(1);
        await("the target serves", () -> clusters.mirrored(partition.topic()) > 0);
    }

    /** Whether progress says the topic's id, or is that of an earlier version. */
    @ParameterizedTest
    @EnumSource(names = {"CONSUMER", "AUTO"})
    void shouldCopyNothingAgainWhenTheTargetHasTheTopic(Way way) throws Exception {
        TopicPartition partition = createAndCopy("there-" + way, way);
        CommitMetadata known = CommitMetadata.of(way.committed(partition));
        assertThat(known.targetTopicId()).isEqualTo(idOnTarget(partition));
        clusters.commit(
                partition.topic(),
                Map.of(partition, known.copiedTo(Uuid.ZERO_UUID).addTo(way.committed(partition))));

        for (int end = OLD + 10; end <= OLD + 20; end += 10) {
            Numbered.write(clusters.source(), partition, Numbered.values("r", end - 10, end));
            assertThat(mirrorUntil(way, partition, end)).doesNotContain(" WARN ");
        }

        assertThat(Numbered.read(clusters.target(), partition)).isEqualTo(Numbered.values("r", 0, OLD + 20));
        assertThat(CommitMetadata.of(way.committed(partition)).targetTopicId()).isEqualTo(idOnTarget(partition));
    }

    private static Uuid idOnTarget(TopicPartition partition) {
        return Clusters.topicIds(clusters.target().admin(), List.of(partition.topic()))
                .get(partition.topic());
    }

    private static TopicPlan plan(Way way, TopicPartition partition, String... more) {
        List<String> args = new ArrayList<>(List.of(
                "--source=" + clusters.source().bootstrapServers(),
                "--target=" + clusters.target().bootstrapServers(),
                "--topics=" + partition.topic(),
                "--group=" + partition.topic()));
        args.addAll(List.of(way.options.split(" ")));
        args.addAll(List.of(more));
        MirrorOptions options = new MirrorOptions();
        new CommandLine(options).parseArgs(args.toArray(String[]::new));
        return MirrorPlan.of(options.toConfig()).topics().get(0);
    }

    private static TopicPartition create(String topic) {
        clusters.source().createTopic(topic, 1, 1, Map.of());
        TopicPartition partition = new TopicPartition(topic, 0);
        Numbered.write(clusters.source(), partition, Numbered.values("r", 0, OLD));
        return partition;
    }

    private static TopicPartition createAndCopy(String topic, Way way) throws Exception {
        TopicPartition partition = create(topic);
        mirrorUntil(way, partition, OLD);
        return partition;
    }

    private static void delete(TopicPartition partition) {
        get(clusters.target().admin().deleteTopics(List.of(partition.topic())).all());
    }

    private static MirrorProcess mirror(Way way, TopicPartition partition, String... more) {
        List<String> args = new ArrayList<>(List.of(way.options.split(" ")));
        args.addAll(List.of(more));
        return clusters.mirror(partition.topic(), 1, ProducerKind.MILLRACE, args.toArray(String[]::new));
    }

    /** Returns what the mirror printed. */
    private static String mirrorUntil(Way way, TopicPartition partition, long offset, String... more) throws Exception {
        try (MirrorProcess mirror = mirror(way, partition, more)) {
            await("it is committed", () -> way.hasCommitted(partition, offset), mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            return mirror.output();
        }
    }
}
