package dev.millrace.mirror.run;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static dev.millrace.mirror.support.MirrorFixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.Numbered;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Where a mirror begins whose group has offsets, none, or those of another mirror. */
@Tag("thorough")
class MirrorStartIT {
    private static final Duration STOP = Duration.ofSeconds(40);

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture();

    @TempDir
    private Path folder;

    /** Ways to keep progress. */
    private enum Way {
        CONSUMER("--mode=consumer"),
        EXACT("--mode=auto"),
        EXACTLY_ONCE("--mode=auto --resume=exactly-once");

        private final String options;

        Way(String options) {
            this.options = options;
        }

        void reset(TopicPartition partition, long offset) {
            clusters.commit(
                    this == EXACTLY_ONCE ? clusters.target() : clusters.source(),
                    partition.topic(),
                    Map.of(partition, new OffsetAndMetadata(offset)));
        }

        long committed(TopicPartition partition) {
            var positions = this == EXACTLY_ONCE
                    ? clusters.positionsOnTarget(partition.topic())
                    : clusters.positions(partition.topic());
            return positions.containsKey(partition) ? positions.get(partition).offset() : -1;
        }
    }

    /** So after {@code take-over}, and after an operator has set the offsets. */
    @Test
    void shouldTellOfRecordsThatAreGoneBehindAnOffsetThatNoMirrorHasCommitted() throws Exception {
        TopicPartition partition = create("by-hand");
        Numbered.write(clusters.source(), partition, Numbered.values("r", 0, 100));
        commit(partition, new OffsetAndMetadata(40));
        clusters.deleteBefore(partition, 60);

        String output = mirrorUntilCommitted(Way.EXACT, partition, 100);

        assertThat(output)
                .containsOnlyOnce("Gap in topic " + partition.topic()
                        + " partition 0: the source no longer has offsets 40 to 59, 20 records");
        assertThat(Numbered.read(clusters.target(), partition)).isEqualTo(Numbered.values("r", 60, 100));
    }

    @Test
    void shouldRefuseTheGroupOfAMirrorToAnotherTargetUntilItsOffsetsAreSetByHand() throws Exception {
        TopicPartition partition = create("other-target");
        Numbered.write(clusters.source(), partition, Numbered.values("r", 0, 100));
        commit(partition, new OffsetAndMetadata(40, "millrace-mirror to lost-cluster"));

        for (Way way : List.of(Way.EXACT, Way.EXACTLY_ONCE)) {
            try (MirrorProcess mirror = mirror(way, partition)) {
                assertThat(mirror.awaitExit(STOP)).as(mirror.output()).isOne();
                assertThat(mirror.output())
                        .contains("Group other-target has the progress of a mirror of topic other-target to another"
                                + " target, cluster lost-cluster")
                        .contains("Choose another --group");
            }
        }
        assertThat(clusters.mirrored(partition.topic())).isZero();

        commit(partition, new OffsetAndMetadata(40)); // as kafka-consumer-groups.sh does
        mirrorUntilCommitted(Way.EXACT, partition, 100);
        assertThat(Numbered.read(clusters.target(), partition)).isEqualTo(Numbered.values("r", 40, 100));
    }

    /** As {@code kafka-consumer-groups.sh --reset-offsets} does, which leaves nothing of what the mirror committed. */
    @ParameterizedTest
    @EnumSource
    void shouldTellOnceThatAnOperatorHasResetItsPositionAndFromWhereToWhere(Way way) throws Exception {
        TopicPartition partition = create("reset-" + way);
        Numbered.write(clusters.source(), partition, Numbered.values("r", 0, 60));
        mirrorUntilCommitted(way, partition, 60);
        Numbered.write(clusters.source(), partition, Numbered.values("r", 60, 100));

        way.reset(partition, 40);
        String back = mirrorUntilCommitted(way, partition, 100);
        way.reset(partition, 100);
        Numbered.write(clusters.source(), partition, Numbered.values("r", 100, 110));
        String untouched = mirrorUntilCommitted(way, partition, 110);
        Numbered.write(clusters.source(), partition, Numbered.values("r", 110, 130));
        way.reset(partition, 120);
        String forth = mirrorUntilCommitted(way, partition, 130);

        assertThat(back)
                .containsOnlyOnce("Group " + partition.topic() + " on the "
                        + (way == Way.EXACTLY_ONCE ? "target" : "source")
                        + " has positions that no mirror has committed")
                .contains(partition + " from 60 to 40: 20 offsets again");
        assertThat(untouched).doesNotContain("no mirror has committed");
        assertThat(forth).containsOnlyOnce(partition + " from 110 to 120: 10 offsets left out");
        List<String> copied = new ArrayList<>(Numbered.values("r", 0, 60));
        copied.addAll(Numbered.values("r", 40, 110));
        copied.addAll(Numbered.values("r", 120, 130));
        assertThat(Numbered.read(clusters.target(), partition)).isEqualTo(copied);
    }

    @ParameterizedTest
    @EnumSource
    void shouldTellWhatToDoWhenNothingSaysWhereToBegin(Way way) throws Exception {
        TopicPartition partition = create("none-" + way);

        try (MirrorProcess mirror = mirror(way, partition, "--source-setting=auto.offset.reset=none")) {
            assertThat(mirror.awaitExit(STOP)).as(mirror.output()).isOne();
            assertThat(mirror.output())
                    .contains("the group has no position of [" + partition + "], and auto.offset.reset=none")
                    .doesNotContain("listener", " ERROR ");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"CONSUMER", "EXACTLY_ONCE"})
    void shouldSkipNothingThatIsWrittenAfterItsFirstStartAtTheEnd(Way way) throws Exception {
        TopicPartition partition = create("latest-" + way);
        Numbered.write(clusters.source(), partition, Numbered.values("old", 0, 10));
        String quicklyBack = "group.instance.id=one\n";
        String latest = "--consumer.config="
                + Files.writeString(folder.resolve("consumer.properties"), "auto.offset.reset=latest\n" + quicklyBack);
        try (MirrorProcess mirror = mirror(way, partition, latest)) {
            await("it keeps where it begins", () -> way.committed(partition) == 10, mirror);
            mirror.kill().awaitExit(STOP);
        }

        Numbered.write(clusters.source(), partition, Numbered.values("new", 0, 10));
        mirrorUntilCommitted(way, partition, 20, latest);

        assertThat(Numbered.read(clusters.target(), partition)).isEqualTo(Numbered.values("new", 0, 10));
    }

    @Test
    void shouldCopyATopicAnewThatWasDeletedFromTheTargetOfAMirrorThatHadAnotherMode() throws Exception {
        TopicPartition partition = create("deleted");
        Numbered.write(clusters.source(), partition, Numbered.values("r", 0, 40));
        mirrorUntilCommitted(Way.EXACT, partition, 40);
        Numbered.write(clusters.source(), partition, Numbered.values("r", 40, 60));
        mirrorUntilCommitted(Way.EXACTLY_ONCE, partition, 60);
        assertThat(Numbered.read(clusters.target(), partition)).isEqualTo(Numbered.values("r", 0, 60));

        get(clusters.target().admin().deleteTopics(List.of(partition.topic())).all());
        await("its progress is gone", () -> Way.EXACTLY_ONCE.committed(partition) == -1);
        mirrorUntilCommitted(Way.EXACTLY_ONCE, partition, 60);

        assertThat(Numbered.read(clusters.target(), partition)).isEqualTo(Numbered.values("r", 0, 60));
    }

    private static TopicPartition create(String topic) {
        clusters.source().createTopic(topic, 1, 1, Map.of());
        return new TopicPartition(topic, 0);
    }

    private static void commit(TopicPartition partition, OffsetAndMetadata position) {
        clusters.commit(partition.topic(), Map.of(partition, position));
    }

    private static MirrorProcess mirror(Way way, TopicPartition partition, String... more) {
        List<String> args = new ArrayList<>(List.of(way.options.split(" ")));
        args.addAll(List.of(more));
        return clusters.mirror(partition.topic(), 1, ProducerKind.MILLRACE, args.toArray(String[]::new));
    }

    /** Returns what the mirror printed. */
    private static String mirrorUntilCommitted(Way way, TopicPartition partition, long offset, String... more)
            throws Exception {
        try (MirrorProcess mirror = mirror(way, partition, more)) {
            await("it is committed", () -> way.committed(partition) == offset, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            return mirror.output();
        }
    }
}
