package dev.millrace.client.it.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.SingleBrokerFixture;
import dev.millrace.client.support.Tries;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.oracle.DeliveryOracle;
import dev.millrace.testkit.oracle.Stamp;
import dev.millrace.testkit.oracle.Verdict;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Records that no broker acknowledges within {@code delivery.timeout.ms}, and what happens to their batches. */
class ExpiryIT extends SingleBrokerFixture {
    private static final int LARGE = 900_000;

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailRecordsAndGoOnWhenTheBrokerComesBackAfterDeliveryTimeout(ProducerKind kind) throws Exception {
        // given
        String topic = topic("expiring", kind, 1);
        try (Producer<byte[], byte[]> producer = kind.create(
                cluster.clientConfig(), "request.timeout.ms", 400, "delivery.timeout.ms", 1000, "linger.ms", 0)) {
            Tries.untilAcknowledged(producer, record(topic));
            cluster.pause(1);

            // when
            try {
                Future<RecordMetadata> expired = producer.send(record(topic));
                assertThatThrownBy(expired::get).hasCauseInstanceOf(TimeoutException.class);
            } finally {
                cluster.resume(1);
            }

            // then the partition goes on as soon as the broker answers in time again
            Tries.untilAcknowledged(producer, record(topic));
        }
    }

    /**
     * KAFKA-19012, CVE-2026-35554. The batch expires while part of it waits to be written to a broker that has stopped
     * reading. Then records of another topic need memory, and the broker reads on.
     */
    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldPutNoRecordIntoTheWrongTopicWhenABatchExpiresWhileItIsWritten(ProducerKind kind) throws Exception {
        // given one request in flight at a time, so that the second batch is sent after half of its time
        String expiring = topic("expires-in-flight", kind, 1);
        String other = topic("reuses-memory", kind, 1);
        DeliveryOracle oracle = new DeliveryOracle(1);
        Map<String, Object> configs = ProducerKind.with(
                cluster.clientConfig(), "delivery.timeout.ms", 2000, "request.timeout.ms", 2000, "linger.ms", 0);
        configs.putAll(Map.of("max.in.flight.requests.per.connection", 1, "batch.size", LARGE + 1000));
        configs.putAll(Map.of("buffer.memory", 3L * LARGE, "max.block.ms", 20_000));
        try (Producer<byte[], byte[]> producer = kind.create(configs)) {
            Await.until(
                    "the topics are used",
                    PATIENCE,
                    () -> Tries.isAcknowledged(send(producer, expiring, 0, 100, oracle)));
            Await.until(
                    "the topics are used", PATIENCE, () -> Tries.isAcknowledged(send(producer, other, 0, 100, oracle)));
            CompletableFuture<Void> pausedAgain = new CompletableFuture<>();
            cluster.pause(1);
            try {
                producer.send(new ProducerRecord<>(expiring, stamp(expiring, 1, 2000)), (m, e) -> {
                    cluster.pause(1);
                    pausedAgain.complete(null);
                });
                Future<RecordMetadata> expired = send(producer, expiring, 2, LARGE, oracle);
                // lets the second batch age; if this is too long or too short, the test finds less but does not fail
                TimeUnit.SECONDS.sleep(1);

                // when
                cluster.resume(1);
                pausedAgain.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                Await.until("the second batch has its outcome", PATIENCE, expired::isDone);
                for (int i = 1; i <= 3; i++) {
                    send(producer, other, i, LARGE / 2, oracle);
                }
            } finally {
                cluster.resume(1);
            }
        }

        // then
        Verdict verdict = oracle.judge(cluster.clientConfig(), List.of(expiring, other));
        assertThat(verdict.isClean()).as(verdict.toString()).isTrue();
    }

    private static Future<RecordMetadata> send(
            Producer<byte[], byte[]> producer, String topic, int sequence, int size, DeliveryOracle oracle) {
        return producer.send(new ProducerRecord<>(topic, stamp(topic, sequence, size)), (m, e) -> {
            if (e == null) {
                oracle.onAcknowledged(new Stamp(1, 0, topic, 0, sequence));
            }
        });
    }

    private static byte[] stamp(String topic, int sequence, int size) {
        return new Stamp(1, 0, topic, 0, sequence).encode(size);
    }
}
