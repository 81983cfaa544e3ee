package dev.millrace.client.it.batches;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.support.Deadlines;
import dev.millrace.client.support.JudgedSends;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.StampedLoad;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.cluster.TopicContents;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Header;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A stock consumer reads what was sent, byte for byte. */
class RoundTripIT {
    @AutoClose
    private static final KafkaCluster cluster =
            KafkaCluster.builder().listeners(Listener.values()).start();

    @ParameterizedTest
    @CsvSource({
        "none, all, 16384, 5, 5", "gzip, all, 16384, 5, 5", "snappy, all, 16384, 0, 5", "lz4, all, 65536, 5, 5",
        "zstd, all, 1000000, 5, 1", "none, 1, 16384, 5, 5", "zstd, 1, 16384, 0, 1", "none, all, 0, 0, 5"
    })
    void shouldKeepEveryRecordWhenSentWith(String codec, String acks, int batchSize, int lingerMs, int inFlight)
            throws Exception {
        // given
        String topic = "round-trip-" + codec + "-" + acks + "-" + batchSize + "-" + lingerMs;
        cluster.createTopic(topic, 3, 1, Map.of("retention.ms", "-1")); // records are of 2023, and are to be read
        List<ProducerRecord<byte[], byte[]>> sent = variedRecords(topic, 3, 3000);

        // when
        List<Future<RecordMetadata>> futures = new ArrayList<>();
        try (Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(
                cluster.clientConfig(),
                "compression.type",
                codec,
                "acks",
                acks,
                "batch.size",
                batchSize,
                "linger.ms",
                lingerMs,
                "max.in.flight.requests.per.connection",
                inFlight)) {
            for (ProducerRecord<byte[], byte[]> record : sent) {
                futures.add(producer.send(record));
            }
        }

        // then
        List<ConsumerRecord<byte[], byte[]>> read = TopicContents.read(cluster.clientConfig(), topic);
        assertThat(read).hasSameSizeAs(sent);
        for (int i = 0; i < sent.size(); i++) {
            RecordMetadata told = futures.get(i).get(0, TimeUnit.SECONDS);
            ConsumerRecord<byte[], byte[]> found = find(read, told);
            assertSame(sent.get(i), found);
            assertThat(told.timestamp()).isEqualTo(found.timestamp());
            assertThat(told.serializedKeySize()).isEqualTo(found.serializedKeySize());
            assertThat(told.serializedValueSize()).isEqualTo(found.serializedValueSize());
        }
    }

    @Test
    void shouldSendKeysToTheSamePartitionsAsTheStockProducer() throws Exception {
        // given
        cluster.createTopic("keyed", 17, 1, Map.of());
        Random random = new Random(17);

        // when, then
        try (Producer<byte[], byte[]> millrace = ProducerKind.MILLRACE.create(cluster.clientConfig());
                Producer<byte[], byte[]> stock = ProducerKind.STOCK.create(cluster.clientConfig())) {
            for (int i = 0; i < 200; i++) {
                byte[] key = new byte[random.nextInt(40)];
                random.nextBytes(key);
                Future<RecordMetadata> ours = millrace.send(new ProducerRecord<>("keyed", key, new byte[1]));
                Future<RecordMetadata> theirs = stock.send(new ProducerRecord<>("keyed", key, new byte[1]));
                assertThat(ours.get().partition()).isEqualTo(theirs.get().partition());
            }
        }
    }

    @Test
    void shouldWriteEachRecordOnceAndInOrderWhenTheFirstRecordCreatesTheTopic() throws Exception {
        // given a topic that nobody has created
        StampedLoad load;
        try (Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(cluster.clientConfig())) {
            load = new StampedLoad(producer, "created-by-sending", 1);

            // when
            load.start(4);
            load.awaitMore(5_000, Deadlines.recovery());
            load.stop();
        }

        // then
        load.assertAllDelivered(cluster.clientConfig());
    }

    @ParameterizedTest
    @ValueSource(strings = {"SSL", "SASL_PLAINTEXT", "SASL_SSL"})
    void shouldSendThroughEveryKindOfListener(String listener) throws Exception {
        // given
        Map<String, Object> client = cluster.clientConfig(Listener.valueOf(listener));
        String topic = "listener-" + listener;
        cluster.createTopic(topic, 2, 1, Map.of());

        // when
        JudgedSends sends;
        try (Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(client)) {
            sends = new JudgedSends(producer, topic);
            for (int i = 0; i < 1000; i++) {
                sends.send(0, i % 2, null, 100, (metadata, error) -> {});
            }
        }

        // then
        sends.assertAllThere(cluster.clientConfig());
    }

    @Tag("thorough")
    @Test
    void shouldSpreadKeylessRecordsOverAllPartitions() throws Exception {
        // given
        cluster.createTopic("keyless", 4, 1, Map.of());

        // when
        try (Producer<byte[], byte[]> producer =
                ProducerKind.MILLRACE.create(cluster.clientConfig(), "batch.size", 1000)) {
            for (int i = 0; i < 40_000; i++) {
                producer.send(new ProducerRecord<>("keyless", new byte[100]));
            }
        }

        // then
        long[] perPartition = new long[4];
        TopicContents.read(cluster.clientConfig(), "keyless").forEach(r -> perPartition[r.partition()]++);
        assertThat(Arrays.stream(perPartition).sum()).isEqualTo(40_000);
        for (long records : perPartition) {
            assertThat(records).isBetween(7_500L, 12_500L); // 4,000 draws of a batch: 10,000 +- 5 standard deviations
        }
    }

    private static ConsumerRecord<byte[], byte[]> find(List<ConsumerRecord<byte[], byte[]>> read, RecordMetadata told) {
        return read.stream()
                .filter(r -> r.partition() == told.partition() && r.offset() == told.offset())
                .findFirst()
                .orElseThrow();
    }

    private static void assertSame(ProducerRecord<byte[], byte[]> sent, ConsumerRecord<byte[], byte[]> found) {
        assertThat(found.key()).isEqualTo(sent.key());
        assertThat(found.value()).isEqualTo(sent.value());
        if (sent.timestamp() != null) {
            assertThat(found.timestamp()).isEqualTo(sent.timestamp());
        }
        if (sent.partition() != null) {
            assertThat(found.partition()).isEqualTo(sent.partition());
        }
        Header[] expected = sent.headers().toArray();
        Header[] actual = found.headers().toArray();
        assertThat(actual).hasSameSizeAs(expected);
        for (int h = 0; h < expected.length; h++) {
            assertThat(actual[h].key()).isEqualTo(expected[h].key());
            assertThat(actual[h].value()).isEqualTo(expected[h].value());
        }
    }

    private static List<ProducerRecord<byte[], byte[]>> variedRecords(String topic, int partitions, int count) {
        long seed = Long.getLong("millrace.seed", System.nanoTime());
        System.out.println("RoundTripIT seed " + seed);
        Random random = new Random(seed);
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Integer partition = random.nextBoolean() ? random.nextInt(partitions) : null;
            Long timestamp = random.nextBoolean() ? 1_700_000_000_000L + random.nextInt(100_000) - 50_000 : null;
            byte[] key = random.nextInt(3) == 0 ? null : bytes(random, random.nextInt(30));
            byte[] value = random.nextInt(10) == 0 ? null : bytes(random, random.nextInt(2000));
            ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, partition, timestamp, key, value);
            for (int h = random.nextInt(4) - 1; h > 0; h--) {
                record.headers().add("häder-" + h, random.nextBoolean() ? null : bytes(random, random.nextInt(50)));
            }
            records.add(record);
        }
        return records;
    }

    /** Half random, half zeros, so that codecs can compress it by half. */
    private static byte[] bytes(Random random, int length) {
        byte[] half = new byte[length / 2];
        random.nextBytes(half);
        return Arrays.copyOf(half, length);
    }
}
