package dev.millrace.client.it.batches;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.support.ProducerKind;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.TopicContents;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Topics whose limit is below the size of the producer's batches: MESSAGE_TOO_LARGE. */
class BatchSplittingIT {
    private static final int RECORDS = 600;
    private static final int MAX_MESSAGE_BYTES = 5_000;

    @AutoClose
    private static final KafkaCluster cluster = KafkaCluster.builder().start();

    @ParameterizedTest
    @CsvSource({
        "MILLRACE, none",
        "MILLRACE, gzip",
        "MILLRACE, snappy",
        "MILLRACE, lz4",
        "MILLRACE, zstd",
        "STOCK, none",
        "STOCK, lz4"
    })
    void shouldDeliverEveryRecordInOrderWhenBatchesAreTooLarge(ProducerKind kind, String codec) throws Exception {
        // given one batch of about twelve times the topic's limit
        String topic = topic("split-" + codec, kind);
        List<ProducerRecord<byte[], byte[]>> records = randomRecords(topic);
        List<Long> calledBack = Collections.synchronizedList(new ArrayList<>());
        List<Future<RecordMetadata>> futures = new ArrayList<>();

        // when
        try (Producer<byte[], byte[]> producer = lingering(kind, "compression.type", codec)) {
            for (ProducerRecord<byte[], byte[]> record : records) {
                futures.add(producer.send(record, (m, e) -> calledBack.add(e == null ? m.offset() : -1)));
            }
            producer.flush();

            // then flush has waited for the parts
            assertThat(futures).allMatch(Future::isDone);
            assertThat(calledBack).hasSize(RECORDS);
            assertThat(splits(producer)).isPositive();
        }
        for (int i = 0; i < RECORDS; i++) {
            assertThat(calledBack.get(i)).isEqualTo(i);
            assertThat(futures.get(i).get().offset()).isEqualTo(i);
            assertThat(futures.get(i).get().serializedValueSize())
                    .isEqualTo(records.get(i).value().length);
        }
        assertReadBack(records, TopicContents.read(cluster.clientConfig(), topic));
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailOnlyTheTooLargeRecordsOfABatch(ProducerKind kind) throws Exception {
        // given
        String topic = topic("one-too-large", kind);
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            byte[] value = new byte[i == 0 || i == 17 || i == 29 ? 2 * MAX_MESSAGE_BYTES : 100];
            value[0] = (byte) i;
            records.add(new ProducerRecord<>(topic, 0, 1_000L + i, null, value));
        }
        List<Integer> calledBack = Collections.synchronizedList(new ArrayList<>());
        List<Future<RecordMetadata>> futures = new ArrayList<>();

        // when
        try (Producer<byte[], byte[]> producer = lingering(kind)) {
            for (ProducerRecord<byte[], byte[]> record : records) {
                int number = futures.size();
                futures.add(producer.send(record, (m, e) -> calledBack.add(number)));
            }
        }

        // then close has waited for the parts
        List<ProducerRecord<byte[], byte[]>> delivered = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            Future<RecordMetadata> future = futures.get(i);
            assertThat(future.isDone()).isTrue();
            if (records.get(i).value().length > MAX_MESSAGE_BYTES) {
                assertThatThrownBy(future::get).hasCauseInstanceOf(RecordTooLargeException.class);
            } else {
                assertThat(future.get().offset()).isEqualTo(delivered.size());
                delivered.add(records.get(i));
            }
        }
        assertThat(calledBack).hasSize(30);
        if (kind == ProducerKind.MILLRACE) {
            assertThat(calledBack).isSorted();
        }
        assertReadBack(delivered, TopicContents.read(cluster.clientConfig(), topic));
    }

    @Test
    void shouldSplitWithoutIdempotenceToo() throws Exception {
        String topic = topic("not-idempotent", ProducerKind.MILLRACE);
        List<ProducerRecord<byte[], byte[]>> records = randomRecords(topic);

        try (Producer<byte[], byte[]> producer = lingering(
                ProducerKind.MILLRACE,
                "enable.idempotence",
                false,
                "max.in.flight.requests.per.connection",
                1,
                "retries",
                0)) {
            records.forEach(producer::send);
        }

        assertReadBack(records, TopicContents.read(cluster.clientConfig(), topic));
    }

    @Test
    void shouldGoOnWithThePartitionWhenBatchesKeepBeingTooLarge() throws Exception {
        String topic = topic("many-batches", ProducerKind.MILLRACE);
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();

        try (Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(
                cluster.clientConfig(), "batch.size", 12_000, "linger.ms", 5, "compression.type", "snappy")) {
            for (int i = 0; i < 5; i++) {
                for (ProducerRecord<byte[], byte[]> record : randomRecords(topic)) {
                    records.add(record);
                    producer.send(record);
                }
            }
        }

        assertReadBack(records, TopicContents.read(cluster.clientConfig(), topic));
    }

    private static void assertReadBack(
            List<ProducerRecord<byte[], byte[]>> sent, List<ConsumerRecord<byte[], byte[]>> read) {
        assertThat(read).hasSameSizeAs(sent);
        for (int i = 0; i < sent.size(); i++) {
            assertThat(read.get(i).key()).isEqualTo(sent.get(i).key());
            assertThat(read.get(i).value()).isEqualTo(sent.get(i).value());
            assertThat(read.get(i).timestamp()).isEqualTo(sent.get(i).timestamp());
            assertThat(read.get(i).headers()).isEqualTo(sent.get(i).headers());
        }
    }

    private static double splits(Producer<?, ?> producer) {
        return producer.metrics().entrySet().stream()
                .filter(metric -> metric.getKey().name().equals("batch-split-total"))
                .mapToDouble(metric -> (double) metric.getValue().metricValue())
                .sum();
    }

    /** All records of a test go into one batch, which {@code flush} or {@code close} sends. */
    private static Producer<byte[], byte[]> lingering(ProducerKind kind, Object... more) {
        Map<String, Object> configs =
                ProducerKind.with(cluster.clientConfig(), "batch.size", 200_000, "linger.ms", 60_000);
        return kind.create(configs, more);
    }

    private static String topic(String name, ProducerKind kind) {
        String topic = name + "-" + kind.name().toLowerCase(Locale.ROOT);
        kind.createTopic(cluster, topic, 1, 1, Map.of("max.message.bytes", Integer.toString(MAX_MESSAGE_BYTES)));
        return topic;
    }

    /** Half of each value is the same, so that codecs can compress it by half at most. */
    private static List<ProducerRecord<byte[], byte[]>> randomRecords(String topic) {
        Random random = new Random(7);
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < RECORDS; i++) {
            byte[] value = new byte[40 + random.nextInt(120)];
            random.nextBytes(value);
            ByteBuffer.wrap(value).putInt(i).put(new byte[(value.length - Integer.BYTES) / 2]);
            byte[] key = random.nextBoolean() ? null : new byte[] {(byte) i};
            List<Header> headers =
                    i % 3 == 0 ? List.of(new RecordHeader("h" + i % 7, new byte[] {(byte) i})) : List.of();
            records.add(new ProducerRecord<>(topic, 0, 1_000_000L + random.nextInt(100_000), key, value, headers));
        }
        return records;
    }
}
