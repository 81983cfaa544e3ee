package dev.millrace.mirror.copy;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.StockProducers;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Records larger than {@code max.request.size} is by default, in topics that take them. */
@Tag("thorough")
class LargeRecordsIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final int SMALL = 100;
    private static final int LARGE = 4_000_000;
    private static final int LARGER = 9_000_000;

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture();

    private final Random random = new Random(39);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(names = {"CONSUMER", "BATCHES", "RECORDS"})
    void shouldCopyRecordsAsLargeAsTheirTopicsAllow(CopyMode mode) throws Exception {
        assertCopied(mode.toString(), "--mode=" + mode);
    }

    @Test
    void shouldCopyRecordsAsLargeAsTheirTopicsAllowExactlyOnce() throws Exception {
        assertCopied("exactly-once", "--resume=exactly-once");
    }

    private void assertCopied(String name, String option) throws Exception {
        String first = name + "-first";
        String later = name + "-later";
        clusters.source().createTopic(first, 1, 1, Map.of("max.message.bytes", "5000000"));
        write(first, SMALL, LARGE, SMALL, SMALL, LARGE, LARGE);
        try (MirrorProcess mirror = mirror(name, option)) {
            await(
                    "all of the first is mirrored",
                    () -> sizes(clusters.target(), first).size() == 6,
                    mirror);
            clusters.source().createTopic(later, 1, 1, Map.of("max.message.bytes", "10000000"));
            write(later, SMALL, LARGER, SMALL, LARGE);
            await(
                    "all of the other is mirrored",
                    () -> sizes(clusters.target(), later).size() == 4,
                    mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
        assertThat(clusters.compareForCommittedReader(first).isExact()).isTrue();
        assertThat(clusters.compareForCommittedReader(later).isExact()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(names = {"CONSUMER", "BATCHES", "RECORDS"})
    void shouldLeaveOutOnlyWhatTheTargetsTopicRefuses(CopyMode mode) throws Exception {
        String topic = "refused-" + mode;
        clusters.source().createTopic(topic, 1, 1, Map.of("max.message.bytes", "10000000"));
        clusters.target().createTopic(topic, 1, 1, Map.of("max.message.bytes", "5000000"));
        write(topic, SMALL, LARGE, LARGER, SMALL, LARGE);
        try (MirrorProcess mirror = mirror(topic, "--mode=" + mode, "--on-refused=skip")) {
            await(
                    "the others are mirrored",
                    () -> sizes(clusters.target(), topic).size() == 4,
                    mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            assertThat(mirror.output())
                    .contains("partition 0 offset 2 cannot be written to the target, and is skipped");
        }
        assertThat(sizes(clusters.target(), topic)).containsExactly(SMALL, LARGE, SMALL, LARGE);
    }

    private MirrorProcess mirror(String name, String... options) throws Exception {
        Path soon = Files.writeString(folder.resolve("consumer.properties"), "metadata.max.age.ms=500\n");
        return MirrorProcess.start(Stream.concat(
                        Stream.of(
                                "run",
                                "--source=" + clusters.source().bootstrapServers(),
                                "--target=" + clusters.target().bootstrapServers(),
                                "--topics=" + name + ".*",
                                "--group=" + name,
                                "--consumer.config=" + soon),
                        Stream.of(options))
                .toArray(String[]::new));
    }

    /** Records of random bytes, which do not compress, each with its number. */
    private void write(String topic, int... sizes) {
        Map<String, Object> config = clusters.source().clientConfig();
        config.put("max.request.size", 2 * LARGER);
        config.put("buffer.memory", 10L * LARGER);
        List<Future<?>> results = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer = StockProducers.create(config)) {
            for (int number = 0; number < sizes.length; number++) {
                byte[] value = new byte[sizes[number]];
                random.nextBytes(value);
                byte[] key = ByteBuffer.allocate(4).putInt(number).array();
                results.add(producer.send(new ProducerRecord<>(topic, 0, key, value)));
            }
        }
        results.forEach(MirrorFixture::get);
    }

    /** Those of the values that a reader of committed records sees. */
    private static List<Integer> sizes(KafkaCluster cluster, String topic) {
        if (MirrorFixture.partitions(cluster, topic) == 0) {
            return List.of();
        }
        TopicPartition partition = new TopicPartition(topic, 0);
        Map<String, Object> config = cluster.clientConfig();
        config.put("isolation.level", "read_committed");
        Map<Long, Integer> sizes = new LinkedHashMap<>();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            while (consumer.position(partition) < end) {
                consumer.poll(Duration.ofMillis(100))
                        .forEach(record -> sizes.put(record.offset(), record.serializedValueSize()));
            }
        }
        return List.copyOf(sizes.values());
    }
}
