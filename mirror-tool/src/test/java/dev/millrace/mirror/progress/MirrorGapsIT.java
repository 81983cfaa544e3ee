package dev.millrace.mirror.progress;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.Numbered;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The source has lost records that the mirror was to read, or has read. */
@Tag("thorough")
class MirrorGapsIT {
    private static final Duration STOP = Duration.ofSeconds(40);

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture();

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(names = {"CONSUMER", "BATCHES"})
    void shouldTellWhichRecordsWereDeletedWhileItWasStoppedAndDoWhatThePolicySays(CopyMode mode) throws Exception {
        String topic = "overtaken-" + mode;
        TopicPartition first = new TopicPartition(topic, 0);
        TopicPartition second = new TopicPartition(topic, 1);
        clusters.source().createTopic(topic, 2, 1, Map.of());
        writeToBoth(first, second, 0, 40);
        mirrorUntilCommitted(mode, 40, first, second);
        writeToBoth(first, second, 40, 100);
        clusters.deleteBefore(first, 60);
        String gap = "Gap in topic " + topic + " partition 0: the source no longer has offsets 40 to 59, 20 records";

        String stopped = mirrorUntilCommitted(mode, 100, second, "--on-gap=stop-partition");
        assertThat(stopped).containsOnlyOnce(gap).contains("stops this partition at offset 40");
        assertThat(clusters.positions(topic).get(first).offset()).isEqualTo(40);
        assertThat(Numbered.read(clusters.target(), first)).isEqualTo(Numbered.values("r", 0, 40));
        assertThat(Numbered.read(clusters.target(), second)).isEqualTo(Numbered.values("r", 0, 100));

        String wentOn = mirrorUntilCommitted(mode, 100, first);
        assertThat(wentOn).containsOnlyOnce(gap).contains("goes on at offset 60");
        assertThat(Numbered.read(clusters.target(), first)).isEqualTo(allButTheGap());
        assertThat(Numbered.read(clusters.target(), second)).isEqualTo(Numbered.values("r", 0, 100));
    }

    @ParameterizedTest
    @EnumSource(names = {"CONSUMER", "BATCHES"})
    void shouldGoOnAtTheFirstRecordAfterAGapWhenNewPartitionsBeginAtTheEnd(CopyMode mode) throws Exception {
        TopicPartition partition = partitionWithAGap("latest-" + mode, mode, 100);

        String output = mirrorUntilCommitted(mode, 100, partition, latest());

        assertThat(output).contains("the source no longer has offsets 40 to 59, 20 records", "goes on at offset 60");
        assertThat(Numbered.read(clusters.target(), partition)).isEqualTo(allButTheGap());
    }

    @ParameterizedTest
    @EnumSource(names = {"CONSUMER", "BATCHES"})
    void shouldCommitWhereItGoesOnAfterAGapWhenThereIsNothingToCopy(CopyMode mode) throws Exception {
        TopicPartition partition = partitionWithAGap("emptied-" + mode, mode, 60);

        mirrorUntilCommitted(mode, 60, partition);

        assertThat(Numbered.read(clusters.target(), partition)).isEqualTo(Numbered.values("r", 0, 40));
    }

    /** Of its records, up to {@code end}, 40 are copied; the next 20 are then deleted. */
    private static TopicPartition partitionWithAGap(String topic, CopyMode mode, int end) throws Exception {
        TopicPartition partition = new TopicPartition(topic, 0);
        clusters.source().createTopic(topic, 1, 1, Map.of());
        Numbered.write(clusters.source(), partition, Numbered.values("r", 0, 40));
        mirrorUntilCommitted(mode, 40, partition);
        Numbered.write(clusters.source(), partition, Numbered.values("r", 40, end));
        clusters.deleteBefore(partition, 60);
        return partition;
    }

    private static List<String> allButTheGap() {
        List<String> values = new ArrayList<>(Numbered.values("r", 0, 40));
        values.addAll(Numbered.values("r", 60, 100));
        return values;
    }

    private String latest() throws IOException {
        return "--consumer.config="
                + Files.writeString(folder.resolve("latest.properties"), "auto.offset.reset=latest\n");
    }

    /** The log has grown beyond the old position again, so only the leader epoch of that position tells. */
    @ParameterizedTest
    @EnumSource(names = {"CONSUMER", "BATCHES"})
    void shouldGoBackToWhereTheLogWasTruncatedAndTellIt(CopyMode mode) throws Exception {
        String topic = "truncated-" + mode;
        TopicPartition partition = new TopicPartition(topic, 0);
        KafkaCluster source = clusters.source();
        source.createTopic(topic, 1, 1, Map.of());
        List<String> all = new ArrayList<>(Numbered.values("old", 0, 100));
        Numbered.write(source, partition, all);
        mirrorUntilCommitted(mode, 100, partition);

        int end = truncate(partition);
        List<String> later = Numbered.values("later", 0, 70);
        Numbered.write(source, partition, later);
        String output = mirrorUntilCommitted(mode, end + 70, partition);

        assertThat(end).isBetween(31, 99); // So that the log has grown beyond the old position.
        assertThat(output)
                .containsOnlyOnce("Topic " + topic + " partition 0 was truncated on the source")
                .contains("goes on at offset " + end + ".");
        all.addAll(later);
        assertThat(Numbered.read(clusters.target(), partition)).isEqualTo(all);
    }

    private static void writeToBoth(TopicPartition first, TopicPartition second, int from, int to) {
        Numbered.write(clusters.source(), first, Numbered.values("r", from, to));
        Numbered.write(clusters.source(), second, Numbered.values("r", from, to));
    }

    /** Crashes the source's broker, after which its log has only about the first two thirds. Returns where it ends. */
    private static int truncate(TopicPartition partition) throws IOException {
        Path folder = Path.of(MirrorFixture.get(
                        clusters.source().admin().describeLogDirs(List.of(1)).allDescriptions())
                .get(1)
                .keySet()
                .iterator()
                .next());
        clusters.source().kill(1);
        Path segment = folder.resolve(partition.toString()).resolve("00000000000000000000.log");
        try (RandomAccessFile log = new RandomAccessFile(segment.toFile(), "rw")) {
            log.setLength(log.length() / 3 * 2);
        }
        clusters.source().restart(1);
        return Numbered.read(clusters.source(), partition).size();
    }

    private static void mirrorUntilCommitted(CopyMode mode, long offset, TopicPartition one, TopicPartition other)
            throws Exception {
        try (MirrorProcess mirror = clusters.mirror(one.topic(), 1, mode)) {
            await("it is committed", () -> isCommitted(one, offset) && isCommitted(other, offset), mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
    }

    /** Returns what the mirror printed. */
    private static String mirrorUntilCommitted(CopyMode mode, long offset, TopicPartition partition, String... more)
            throws Exception {
        try (MirrorProcess mirror = clusters.mirror(partition.topic(), 1, mode, more)) {
            await("it is committed", () -> isCommitted(partition, offset), mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            return mirror.output();
        }
    }

    private static boolean isCommitted(TopicPartition partition, long offset) {
        var committed = clusters.positions(partition.topic()).get(partition);
        return committed != null && committed.offset() == offset;
    }
}
