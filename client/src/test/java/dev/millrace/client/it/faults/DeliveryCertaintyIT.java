package dev.millrace.client.it.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.MillraceProducer;
import dev.millrace.client.delivery.DeliveryCallback;
import dev.millrace.client.delivery.DeliveryCertainty;
import dev.millrace.client.delivery.DeliveryFuture;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.SingleBrokerFixture;
import dev.millrace.client.support.Tries;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.TopicContents;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What the producer tells of records that a broker refuses, and whether it is certain that a record was written or not.
 */
class DeliveryCertaintyIT extends SingleBrokerFixture {
    private static final String NEEDS_A_KEY = "Compacted topic cannot accept message without key";

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldNameTheRecordsThatTheBrokerRefuses(ProducerKind kind) throws Exception {
        // given a batch with two records that the broker refuses
        String topic = topic("refused", kind, 1, Map.of("cleanup.policy", "compact"));
        List<Future<RecordMetadata>> futures = new ArrayList<>();
        List<Exception> calledBack = new ArrayList<>();

        // when
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "linger.ms", 60_000)) {
            for (int i = 0; i < 5; i++) {
                byte[] key = i == 1 || i == 3 ? null : new byte[] {(byte) i};
                futures.add(producer.send(new ProducerRecord<>(topic, key, new byte[10]), (m, e) -> calledBack.add(e)));
            }
            producer.flush();

            // then the producer goes on
            assertThat(producer.send(new ProducerRecord<>(topic, new byte[1], new byte[10]))
                            .isDone())
                    .isFalse();
        }
        for (int i = 0; i < 5; i++) {
            Throwable error = causeOf(futures.get(i));
            assertThat(error).hasToString(calledBack.get(i).toString());
            if (i == 1 || i == 3) {
                assertThat(error)
                        .isExactlyInstanceOf(InvalidRecordException.class)
                        .hasMessageContaining(NEEDS_A_KEY);
            } else {
                assertThat(error).isExactlyInstanceOf(KafkaException.class).hasMessageContaining("batch");
            }
        }
        assertThat(TopicContents.read(cluster.clientConfig(), topic)).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldNameTheOnlyRecordThatTheBrokerRefuses(ProducerKind kind) {
        String topic = topic("refused-alone", kind, 1, Map.of("cleanup.policy", "compact"));
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig())) {
            Throwable error = causeOf(producer.send(record(topic)));

            assertThat(error).isExactlyInstanceOf(InvalidRecordException.class).hasMessageContaining(NEEDS_A_KEY);
        }
    }

    @Test
    void shouldBeCertainOfWhatIsAcknowledgedOrRefused() throws Exception {
        String topic = topic("certain", ProducerKind.MILLRACE, 1);
        String compacted = topic("certainly-not", ProducerKind.MILLRACE, 1, Map.of("cleanup.policy", "compact"));
        try (MillraceProducer<byte[], byte[]> producer = millrace("max.request.size", 1_000)) {
            assertThat(certaintyOf(producer, record(topic))).isEqualTo(DeliveryCertainty.PERSISTED);
            assertThat(certaintyOf(producer, record(compacted))).isEqualTo(DeliveryCertainty.NOT_PERSISTED);
            assertThat(certaintyOf(producer, record(topic, 2_000)))
                    .as("refused by send")
                    .isEqualTo(DeliveryCertainty.NOT_PERSISTED);
        }
        try (MillraceProducer<byte[], byte[]> producer = millrace("acks", "0", "enable.idempotence", false)) {
            assertThat(certaintyOf(producer, record(topic)))
                    .as("nobody acknowledges")
                    .isEqualTo(DeliveryCertainty.POSSIBLY_PERSISTED);
        }
    }

    @Test
    void shouldTellWhatWasSentFromWhatWasNotWhenBothExpire() throws Exception {
        String topic = topic("expired", ProducerKind.MILLRACE, 1);
        DeliveryFuture sent;
        DeliveryFuture kept;
        try (MillraceProducer<byte[], byte[]> producer = millrace(
                "request.timeout.ms",
                5_000,
                "delivery.timeout.ms",
                5_000,
                "linger.ms",
                0,
                "max.in.flight.requests.per.connection",
                1)) {
            Tries.untilAcknowledged(producer, record(topic));

            // given a broker that is paused while it handles one request
            cluster.pause(1);
            try {
                sent = producer.send(record(topic, 1));
                assertThatThrownBy(sent::certainty).isInstanceOf(IllegalStateException.class);
                Await.until("the first is in flight", PATIENCE, () -> requestsInFlight(producer) == 1);

                // when
                kept = producer.send(record(topic, 2));
                assertThat(causeOf(sent)).isInstanceOf(TimeoutException.class);
                assertThat(causeOf(kept)).isInstanceOf(TimeoutException.class);
            } finally {
                cluster.resume(1);
            }
        }

        // then
        assertThat(sent.certainty()).isEqualTo(DeliveryCertainty.POSSIBLY_PERSISTED);
        assertThat(kept.certainty()).isEqualTo(DeliveryCertainty.NOT_PERSISTED);
        assertThat(TopicContents.read(cluster.clientConfig(), topic)).noneMatch(read -> read.value().length == 2);
    }

    private static double requestsInFlight(Producer<?, ?> producer) {
        return producer.metrics().entrySet().stream()
                .filter(metric -> metric.getKey().name().equals("requests-in-flight"))
                .mapToDouble(metric -> (double) metric.getValue().metricValue())
                .sum();
    }

    @Test
    void shouldTellAStockProducersUserWhatIsKnownThere() throws Exception {
        String topic = topic("stock", ProducerKind.STOCK, 1);
        CompletableFuture<DeliveryCertainty> told = new CompletableFuture<>();
        try (Producer<byte[], byte[]> producer = ProducerKind.STOCK.create(cluster.clientConfig())) {
            producer.send(record(topic), (DeliveryCallback) (m, e, certainty) -> told.complete(certainty));
        }
        assertThat(told.get()).isEqualTo(DeliveryCertainty.PERSISTED);
    }

    /** Of this class, because only its {@code send} returns a {@link DeliveryFuture}. */
    private static MillraceProducer<byte[], byte[]> millrace(Object... configs) {
        return new MillraceProducer<>(
                ProducerKind.with(cluster.clientConfig(), configs),
                new ByteArraySerializer(),
                new ByteArraySerializer());
    }

    /** What both the callback and the future were told. */
    private static DeliveryCertainty certaintyOf(
            MillraceProducer<byte[], byte[]> producer, ProducerRecord<byte[], byte[]> record) throws Exception {
        CompletableFuture<DeliveryCertainty> told = new CompletableFuture<>();
        Callback callback = (DeliveryCallback) (metadata, error, certainty) -> told.complete(certainty);
        DeliveryFuture future = producer.send(record, callback);
        causeOf(future);
        assertThat(future.certainty()).isEqualTo(told.get());
        return told.get();
    }

    /** Null if the future succeeds. */
    private static Throwable causeOf(Future<RecordMetadata> future) {
        try {
            future.get();
            return null;
        } catch (ExecutionException e) {
            return e.getCause();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
