package dev.millrace.client.it.batches;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.support.JudgedSends;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.SingleBrokerFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * While enough memory is free, records that fit into one batch are sent as one batch, also the first of a partition.
 */
class FirstBatchIT extends SingleBrokerFixture {
    private static final int RECORDS = 100;
    private static final int VALUE_SIZE = 100;

    /** Length, attributes, timestamp and offset delta, and the lengths of key, value and headers. */
    private static final int MIN_RECORD_SIZE = 9 + VALUE_SIZE;

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldSendOneBatchWhenAHundredSmallRecordsAreFlushed(ProducerKind kind) throws Exception {
        String topic = topic("first-batch", kind, 1);
        try (Producer<byte[], byte[]> producer = create(kind)) {
            sendAndFlush(producer, topic);

            assertOneRequest(producer);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldDeliverEveryRecordWhenTheFirstCallbackClosesWithoutTime(ProducerKind kind) throws Exception {
        // given
        String topic = topic("first-batch-closed", kind, 1);
        Producer<byte[], byte[]> producer = create(kind);
        JudgedSends sends = new JudgedSends(producer, topic);
        sends.send(0, null, null, VALUE_SIZE, (metadata, error) -> producer.close(Duration.ZERO));
        for (int i = 1; i < RECORDS; i++) {
            sends.send(VALUE_SIZE);
        }

        // when
        producer.flush();
        producer.close();

        // then
        sends.assertAllThere(cluster.clientConfig());
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldSendOneBatchAfterManySmallOnes(ProducerKind kind) throws Exception {
        String topic = topic("first-batch-again", kind, 1);
        try (Producer<byte[], byte[]> producer = create(kind)) {
            for (int i = 0; i < 20; i++) {
                sendFirst(producer, topic, 1);
            }

            sendAndFlush(producer, topic);

            assertOneBatch(producer);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldSendOneBatchWhenTheTopicWasCreatedAnew(ProducerKind kind) throws Exception {
        // given
        String topic = topic("first-batch-anew", kind, 1);
        try (Producer<byte[], byte[]> producer = create(kind)) {
            sendFirst(producer, topic, 1);
            cluster.admin().deleteTopics(List.of(topic)).all().get();
            cluster.createTopic(topic, 1, 1, Map.of());

            // when
            sendAndFlush(producer, topic);

            // then
            assertOneBatch(producer);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldSendOneBatchInATransaction(ProducerKind kind) throws Exception {
        // given
        String topic = topic("first-batch-transaction", kind, 1);
        try (Producer<byte[], byte[]> producer = create(kind, "transactional.id", topic)) {
            producer.initTransactions();
            producer.beginTransaction();

            // when
            send(producer, topic);
            producer.commitTransaction();

            // then
            assertOneRequest(producer);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldSendOneBatchWhenCompressed(ProducerKind kind) throws Exception {
        String topic = topic("first-batch-compressed", kind, 1);
        try (Producer<byte[], byte[]> producer = create(kind, "compression.type", "gzip")) {
            sendAndFlush(producer, topic);

            assertThat(metric(producer, "records-per-request-avg")).isEqualTo(RECORDS);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void shouldSendOneBatchAPartitionWhateverTheNumberOfIoThreads(int ioThreads) throws Exception {
        // given a partition for each thread
        String topic = topic("first-batch-threads-" + ioThreads, ProducerKind.MILLRACE, ioThreads);
        try (Producer<byte[], byte[]> producer = create(ProducerKind.MILLRACE, "millrace.io.threads", ioThreads)) {
            // when
            for (int i = 0; i < RECORDS * ioThreads; i++) {
                producer.send(new ProducerRecord<>(topic, i % ioThreads, null, new byte[VALUE_SIZE]));
            }
            producer.flush();

            // then
            assertOneRequest(producer);
        }
    }

    @Test
    void shouldSendOneBatchWhenRecordsHaveWaitedForTheirTopic() throws Exception {
        String topic = topic("first-batch-waiting", ProducerKind.MILLRACE, 1);
        try (Producer<byte[], byte[]> producer = create(ProducerKind.MILLRACE, "millrace.metadata.block", false)) {
            sendAndFlush(producer, topic);

            assertOneRequest(producer);
        }
    }

    /** Nothing is sent before {@code flush}. */
    private static Producer<byte[], byte[]> create(ProducerKind kind, Object... more) {
        return kind.create(ProducerKind.with(cluster.clientConfig(), "linger.ms", 60_000, "batch.size", 16_384), more);
    }

    private static void sendAndFlush(Producer<byte[], byte[]> producer, String topic) throws Exception {
        List<Future<RecordMetadata>> futures = send(producer, topic);
        producer.flush();
        for (Future<RecordMetadata> future : futures) {
            assertThat(future.get().hasOffset()).isTrue();
        }
    }

    private static List<Future<RecordMetadata>> send(Producer<byte[], byte[]> producer, String topic) {
        List<Future<RecordMetadata>> futures = new ArrayList<>();
        for (int i = 0; i < RECORDS; i++) {
            futures.add(producer.send(record(topic, VALUE_SIZE)));
        }
        return futures;
    }

    /** For a producer that has sent nothing else; a request has at most one batch per partition. */
    private static void assertOneRequest(Producer<?, ?> producer) {
        assertOneBatch(producer);
        assertThat(metric(producer, "records-per-request-avg")).isEqualTo(RECORDS);
    }

    private static void assertOneBatch(Producer<?, ?> producer) {
        assertThat(metric(producer, "batch-size-max")).isGreaterThan(RECORDS * MIN_RECORD_SIZE);
    }
}
