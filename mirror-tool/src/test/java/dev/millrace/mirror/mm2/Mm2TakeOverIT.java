package dev.millrace.mirror.mm2;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static dev.millrace.mirror.support.MirrorFixture.get;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.Numbered;
import dev.millrace.mirror.support.StockProducers;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.oracle.TopicDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Taking over from MirrorMaker 2, whose offsets the test writes, where the copies are not easily found. */
class Mm2TakeOverIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final String ALIAS = "old";

    @AutoClose
    private static MirrorFixture clusters;

    @BeforeAll
    static void startClusters() {
        clusters = new MirrorFixture();
        clusters.target().createTopic(Mm2Progress.defaultTopic(ALIAS), 1, 1, Map.of("cleanup.policy", "compact"));
    }

    @Tag("thorough")
    @Test
    void shouldTakeOverTopicsOnWhichTheTargetReplacesTimestamps() throws Exception {
        TopicPartition partition = create("stamped", Map.of(), Map.of("message.timestamp.type", "LogAppendTime"));
        List<String> values = Numbered.values("r", 0, 100);
        Numbered.write(clusters.source(), partition, values);
        Numbered.write(clusters.target(), partition, values.subList(0, 60));
        commitAsMirrorMaker2(partition, 60);

        assertThat(takeOver(partition, 0)).contains("1 of 1 partition taken over; ");

        mirrorUntilCommitted(partition, 100);
        assertThat(Numbered.read(clusters.target(), partition)).isEqualTo(values);
    }

    @Tag("thorough")
    @Test
    void shouldTakeOverATopicOfWhichMuchIsCompactedBeforeTheOffset() throws Exception {
        Map<String, String> compacting =
                Map.of("cleanup.policy", "compact", "min.cleanable.dirty.ratio", "0.001", "segment.ms", "100");
        TopicPartition partition = create("compacted", compacting, Map.of());
        List<ProducerRecord<byte[], byte[]>> copied = new ArrayList<>();
        long time = System.currentTimeMillis();
        copied.add(record(partition, time, "kept", 0));
        for (int i = 1; i <= 300; i++) {
            copied.add(record(partition, time, "replaced", i));
        }
        send(clusters.source(), copied);
        send(clusters.target(), copied);
        commitAsMirrorMaker2(partition, 301);
        for (int i = 1; i <= 3; i++) { // each in a segment of its own
            send(clusters.source(), List.of(record(partition, time + i * 1_000L, "replaced", 300 + i)));
        }
        await(
                "it is compacted",
                () -> TopicDigest.read(clusters.source().clientConfig(), partition.topic())
                                .records()
                        < 10);

        assertThat(takeOver(partition, 0)).contains("1 of 1 partition taken over; ");

        mirrorUntilCommitted(partition, 304);
        assertThat(Numbered.read(clusters.target(), partition))
                .startsWith(values(copied))
                .doesNotHaveDuplicates()
                .endsWith("r-303");
    }

    @Test
    void shouldSayThatTheTargetHasOtherRecordsAndHowToGoOnAllTheSame() throws Exception {
        TopicPartition partition = create("others", Map.of(), Map.of());
        Numbered.write(clusters.source(), partition, Numbered.values("r", 0, 100));
        Numbered.write(clusters.target(), partition, Numbered.values("other", 0, 60));
        commitAsMirrorMaker2(partition, 60);

        assertThat(takeOver(partition, 1))
                .contains(
                        "The target has records of others-0, but not, among those that were looked at, the last one of"
                                + " the source before the offset of MirrorMaker 2")
                .contains("--topic others:0 --reset-offsets --to-offset 60")
                .doesNotContain("--exclude-topics", "--topic-prefix");
        assertThat(clusters.positions(partition.topic())).isEmpty();
    }

    private static TopicPartition create(String topic, Map<String, String> source, Map<String, String> target) {
        clusters.source().createTopic(topic, 1, 1, source);
        clusters.target().createTopic(topic, 1, 1, target);
        return new TopicPartition(topic, 0);
    }

    private static ProducerRecord<byte[], byte[]> record(TopicPartition to, long time, String key, int number) {
        byte[] value = Numbered.values("r", number, number + 1).get(0).getBytes(UTF_8);
        return new ProducerRecord<>(to.topic(), to.partition(), time, key.getBytes(UTF_8), value);
    }

    private static String[] values(List<ProducerRecord<byte[], byte[]>> records) {
        return records.stream().map(record -> new String(record.value(), UTF_8)).toArray(String[]::new);
    }

    private static void send(KafkaCluster cluster, List<ProducerRecord<byte[], byte[]>> records) {
        try (Producer<byte[], byte[]> producer = StockProducers.create(cluster.clientConfig())) {
            records.stream().map(producer::send).toList().forEach(MirrorFixture::get);
        }
    }

    private static void commitAsMirrorMaker2(TopicPartition partition, long next) {
        String key = "[\"%s\",{\"cluster\":\"%s\",\"partition\":%d,\"topic\":\"%s\"}]"
                .formatted(Mm2Progress.CONNECTOR, ALIAS, partition.partition(), partition.topic());
        String value = "{\"offset\":%d}".formatted(next - 1);
        try (Producer<byte[], byte[]> producer =
                StockProducers.create(clusters.target().clientConfig())) {
            get(producer.send(
                    new ProducerRecord<>(Mm2Progress.defaultTopic(ALIAS), key.getBytes(UTF_8), value.getBytes(UTF_8))));
        }
    }

    private static String takeOver(TopicPartition partition, int exitCode) throws InterruptedException {
        try (MirrorProcess command = MirrorProcess.start(
                "take-over",
                "--from-mm2=" + ALIAS,
                "--source=" + clusters.source().bootstrapServers(),
                "--target=" + clusters.target().bootstrapServers(),
                "--topics=" + partition.topic(),
                "--group=" + partition.topic())) {
            assertThat(command.awaitExit(STOP)).as(command.output()).isEqualTo(exitCode);
            return command.output();
        }
    }

    private static void mirrorUntilCommitted(TopicPartition partition, long offset) throws InterruptedException {
        String topic = partition.topic();
        try (MirrorProcess mirror = clusters.mirror(topic, 1, CopyMode.AUTO)) {
            await("all is committed", () -> clusters.committed(topic) == offset, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
    }
}
