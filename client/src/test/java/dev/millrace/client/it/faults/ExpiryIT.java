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
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Records that no broker acknowledges within {@code delivery.timeout.ms}, and what happens to their batches. */
class ExpiryIT extends SingleBrokerFixture {
    /** More than the kernel takes of a request while the broker reads nothing. */
    private static final int LARGE = 900_000;

    private static final int DELIVERY_TIMEOUT_MS = 2000;

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
                cluster.clientConfig(),
                "delivery.timeout.ms",
                DELIVERY_TIMEOUT_MS,
                "request.timeout.ms",
                DELIVERY_TIMEOUT_MS,
                "linger.ms",
                0);
        configs.putAll(Map.of("max.in.flight.requests.per.connection", 1, "batch.size", LARGE + 1000));
        configs.putAll(Map.of("buffer.memory", 3L * LARGE, "max.block.ms", 20_000));
        try (Producer<byte[], byte[]> producer = kind.create(configs)) {
            StampedSends toExpiring = new StampedSends(producer, expiring, oracle);
            StampedSends toOther = new StampedSends(producer, other, oracle);
            Await.until("a topic is used", PATIENCE, () -> Tries.isAcknowledged(toExpiring.send(100)));
            Await.until("a topic is used", PATIENCE, () -> Tries.isAcknowledged(toOther.send(100)));

            // when: again if the machine was so slow that the batch expired before it was sent
            Await.until(
                    "a batch expires while it is written",
                    PATIENCE.multipliedBy(2),
                    () -> expiresWhileWritten(toExpiring, toOther));
        }

        // then
        Verdict verdict = oracle.judge(cluster.clientConfig(), List.of(expiring, other));
        assertThat(verdict.isClean()).as(verdict.toString()).isTrue();
    }

    private static boolean expiresWhileWritten(StampedSends toExpiring, StampedSends toOther) {
        CompletableFuture<Void> pausedAgain = new CompletableFuture<>();
        boolean isInFlight;
        cluster.pause(1);
        try {
            toExpiring.send(2000, () -> {
                cluster.pause(1);
                pausedAgain.complete(null);
            });
            Future<RecordMetadata> expired = toExpiring.send(LARGE);
            TimeUnit.MILLISECONDS.sleep(DELIVERY_TIMEOUT_MS / 2); // so that it expires long before its request does
            cluster.resume(1);
            pausedAgain.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            isInFlight = !Tries.isAcknowledged(expired) && metric(toExpiring.producer, "requests-in-flight") > 0;
            for (int i = 0; i < 3; i++) {
                toOther.send(LARGE / 2);
            }
        } catch (InterruptedException | ExecutionException | java.util.concurrent.TimeoutException e) {
            throw new IllegalStateException(e);
        } finally {
            cluster.resume(1);
        }
        toExpiring.producer.flush();
        return isInFlight;
    }

    /** Sends stamped records to one topic, and reports those that are acknowledged. */
    private record StampedSends(
            Producer<byte[], byte[]> producer, String topic, DeliveryOracle oracle, AtomicInteger sent) {
        StampedSends(Producer<byte[], byte[]> producer, String topic, DeliveryOracle oracle) {
            this(producer, topic, oracle, new AtomicInteger());
        }

        Future<RecordMetadata> send(int size) {
            return send(size, () -> {});
        }

        Future<RecordMetadata> send(int size, Runnable whenTold) {
            Stamp stamp = new Stamp(1, 0, topic, 0, sent.getAndIncrement());
            return producer.send(new ProducerRecord<>(topic, stamp.encode(size)), (metadata, error) -> {
                if (error == null) {
                    oracle.onAcknowledged(stamp);
                }
                whenTold.run();
            });
        }
    }
}
