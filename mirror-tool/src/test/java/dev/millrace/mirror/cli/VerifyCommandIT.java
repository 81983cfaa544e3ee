package dev.millrace.mirror.cli;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.SourceLoad;
import dev.millrace.mirror.support.StockProducers;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code mirror verify} between two real clusters. */
class VerifyCommandIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture();

    @Tag("thorough")
    @ParameterizedTest
    @ValueSource(strings = {"exact", "exactly-once"})
    void shouldFindNoDifferenceWhileTheMirrorRuns(String resume) throws Exception {
        String topic = "live-" + resume;
        clusters.source().createTopic(topic, 3, 1, Map.of());
        try (SourceLoad load = new SourceLoad(clusters, topic, 3, 1);
                MirrorProcess mirror = clusters.mirror(topic, 1, CopyMode.AUTO, "--resume=" + resume)) {
            await("the mirror runs", () -> clusters.mirrored(topic) > 20_000, mirror);

            try (MirrorProcess verify = verify(topic, "--resume=" + resume, "--threads=2");
                    MirrorProcess sample = verify(topic, "--resume=" + resume, "--sample=1000", "--json")) {
                assertThat(verify.awaitExit(PATIENCE)).as(verify.output()).isZero();
                assertThat(verify.output()).contains("1 topic: 1 the same; ");
                assertThat(sample.awaitExit(PATIENCE)).as(sample.output()).isZero();
                assertThat(sample.output())
                        .contains("\"topic\":\"" + topic + "\",\"result\":\"same\"", "\"missing\":0");
            }
            assertThat(mirror.isAlive()).isTrue();
            assertThat(load.stop()).isPositive();
        }
    }

    @Test
    void shouldCopeWithDeletedRecordsReplacedTimestampsAndCompaction() throws Exception {
        clusters.source().createTopic("kept-older", 1, 1, Map.of());
        clusters.source().createTopic("kept-stamped", 1, 1, Map.of());
        clusters.target().createTopic("kept-stamped", 1, 1, Map.of("message.timestamp.type", "LogAppendTime"));
        clusters.source().createTopic("kept-keys", 1, 1, compacted());
        clusters.fill("kept-older", 1, 1_000, 1);
        clusters.fill("kept-stamped", 1, 1_000, 2);
        fillKeys(clusters.source(), "kept-keys", 3_000);
        try (MirrorProcess mirror = clusters.mirror("kept-.*", 1, CopyMode.AUTO)) {
            await("all is committed", () -> clusters.committed("kept-.*") == 5_000, mirror);
            assertThat(mirror.terminate().awaitExit(PATIENCE)).isZero();
        }
        clusters.fill("kept-older", 1, 20, 3);
        clusters.deleteBefore(new TopicPartition("kept-older", 0), 300);

        try (MirrorProcess verify = verify("kept-.*")) {
            assertThat(verify.awaitExit(PATIENCE)).as(verify.output()).isZero();
            assertThat(verify.output())
                    .containsPattern("kept-older +1 +700 +1,000 +700 +20 +same")
                    .contains("the source no longer has 300 records of the target")
                    .containsPattern("kept-stamped +1 +1,000 +1,000 +1,000 +0 +same")
                    .contains("timestamps are not compared")
                    .containsPattern("kept-keys +1 +50 +50 +50 +0 +same")
                    .contains("compacted: numbers are of keys")
                    .contains("3 topics: 3 the same; 1,750 records the same, 20 not copied yet");
        }
        fillKeys(clusters.target(), "kept-keys", 1);
        try (MirrorProcess verify = verify("kept-.*")) {
            assertThat(verify.awaitExit(PATIENCE)).as(verify.output()).isEqualTo(3);
            assertThat(verify.output())
                    .containsPattern("kept-keys +1 +50 +50 +49 +0 +1 different")
                    .contains("partition 0: 1 record different, source offset ", "3 topics: 2 the same, 1 different");
        }
    }

    @Test
    void shouldTellWhatIsMissingDoubledChangedOrAtAnotherPlace() throws Exception {
        clusters.source().createTopic("broken", 1, 1, Map.of());
        clusters.target().createTopic("broken", 1, 1, Map.of());
        List<ProducerRecord<byte[], byte[]>> records = make("broken", 1_000);
        write(clusters.source(), records);
        List<ProducerRecord<byte[], byte[]>> copies = new ArrayList<>(records.subList(0, 950));
        ProducerRecord<byte[], byte[]> changed = copies.get(700);
        copies.set(
                700,
                new ProducerRecord<>(
                        "broken", 0, changed.timestamp(), changed.key(), "something else".getBytes(UTF_8)));
        copies.add(620, copies.remove(600));
        copies.addAll(500, records.subList(450, 500));
        copies.subList(100, 110).clear();
        write(clusters.target(), copies);

        try (MirrorProcess verify = verify("broken");
                MirrorProcess nothing = verify("no-such-topic", "--wait-at-start=0")) {
            assertThat(verify.awaitExit(PATIENCE)).as(verify.output()).isEqualTo(3);
            assertThat(verify.output())
                    .contains("10 missing, 50 doubled, 1 out of order, 1 different")
                    .contains("partition 0: 10 records missing, source offsets 100 to 109")
                    .contains("partition 0: 50 records doubled, target offsets 490 to 539")
                    .contains("partition 0: 1 record out of order, source offset 600, target offset 660")
                    .contains("partition 0: 1 record different, source offset 700, target offset 740")
                    .contains("group     broken on the source; it has no position")
                    .contains("1 topic: 0 the same, 1 different; 938 records the same, 50 not copied yet");
            assertThat(nothing.awaitExit(PATIENCE)).as(nothing.output()).isEqualTo(1);
        }
    }

    private static MirrorProcess verify(String topics, String... more) {
        return MirrorProcess.start(Stream.concat(
                        Stream.of(
                                "verify",
                                "--source=" + clusters.source().bootstrapServers(),
                                "--target=" + clusters.target().bootstrapServers(),
                                "--topics=" + topics,
                                "--group=" + topics),
                        Stream.of(more))
                .toArray(String[]::new));
    }

    /** Compacted as soon as possible. */
    private static Map<String, String> compacted() {
        return Map.of("cleanup.policy", "compact", "segment.ms", "200", "min.cleanable.dirty.ratio", "0.001");
    }

    /** Records of 50 keys in turn. */
    private static void fillKeys(KafkaCluster cluster, String topic, int count) {
        List<ProducerRecord<byte[], byte[]>> records = make(topic, count);
        for (int i = 0; i < count; i++) {
            ProducerRecord<byte[], byte[]> record = records.get(i);
            records.set(
                    i,
                    new ProducerRecord<>(topic, 0, record.timestamp(), new byte[] {(byte) (i % 50)}, record.value()));
        }
        write(cluster, records);
    }

    private static List<ProducerRecord<byte[], byte[]>> make(String topic, int count) {
        Random random = new Random();
        long now = System.currentTimeMillis();
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] value = new byte[20];
            random.nextBytes(value);
            records.add(new ProducerRecord<>(topic, 0, now + i, null, value));
        }
        return records;
    }

    private static void write(KafkaCluster cluster, List<ProducerRecord<byte[], byte[]>> records) {
        try (KafkaProducer<byte[], byte[]> producer = StockProducers.create(cluster.clientConfig())) {
            records.stream().map(producer::send).toList().forEach(MirrorFixture::get);
        }
    }
}
