package dev.millrace.client.it.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.SingleBrokerFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Callbacks, futures and {@code flush}: which comes first, what waits for what, and what must not wait. */
class CallbackSemanticsIT extends SingleBrokerFixture {
    @ParameterizedTest
    @CsvSource({"MILLRACE, true", "STOCK, true", "MILLRACE, false", "STOCK, false"})
    void shouldRunCallbacksOfAPartitionOneAtATimeInTheOrderOfOffsets(ProducerKind kind, boolean idempotent)
            throws Exception {
        // given
        String topic = topic("callback-order-" + idempotent, kind, 3);
        Map<Integer, List<Long>> offsets = new ConcurrentHashMap<>();
        Map<Integer, AtomicInteger> running = new ConcurrentHashMap<>();
        AtomicInteger overlaps = new AtomicInteger();

        // when
        try (Producer<byte[], byte[]> producer =
                kind.create(cluster.clientConfig(), "batch.size", 200, "enable.idempotence", idempotent)) {
            sendFirstIfStock(producer, topic, 3);
            for (int i = 0; i < 3000; i++) {
                producer.send(new ProducerRecord<>(topic, i % 3, null, new byte[20]), (m, e) -> {
                    AtomicInteger inside = running.computeIfAbsent(m.partition(), p -> new AtomicInteger());
                    overlaps.addAndGet(inside.getAndIncrement());
                    offsets.computeIfAbsent(m.partition(), p -> Collections.synchronizedList(new ArrayList<>()))
                            .add(m.offset());
                    inside.decrementAndGet();
                });
            }
        }

        // then
        assertThat(overlaps).hasValue(0);
        assertThat(offsets).hasSize(3);
        offsets.values().forEach(told -> assertThat(told).hasSize(1000).isSorted());
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldCompleteFuturesAfterAllCallbacksOfTheirBatch(ProducerKind kind) throws Exception {
        String topic = topic("callback-first", kind, 1);
        AtomicReference<Future<RecordMetadata>> first = new AtomicReference<>();
        CompletableFuture<Boolean> firstDoneInOwn = new CompletableFuture<>();
        CompletableFuture<Boolean> firstDoneInSecond = new CompletableFuture<>();
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "linger.ms", 60_000)) {
            first.set(producer.send(
                    record(topic), (m, e) -> firstDoneInOwn.complete(first.get().isDone())));
            producer.send(
                    record(topic),
                    (m, e) -> firstDoneInSecond.complete(first.get().isDone()));
            producer.flush();
        }

        assertThat(firstDoneInOwn.get()).isFalse();
        assertThat(firstDoneInSecond.get()).isFalse();
        assertThat(first.get().isDone()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldNotBeCancelledEver(ProducerKind kind) throws Exception {
        String topic = topic("cancelled", kind, 1);
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "linger.ms", 60_000)) {
            Future<RecordMetadata> pending = producer.send(record(topic));

            assertThat(pending.cancel(true)).isFalse();
            assertThat(pending.isCancelled()).isFalse();
            producer.flush();
            assertThat(pending.cancel(false)).isFalse();
            assertThat(pending.get().offset()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldGoOnWhenACallbackThrows(ProducerKind kind) throws Exception {
        String topic = topic("throwing-callback", kind, 1);
        CompletableFuture<Long> second = new CompletableFuture<>();
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "linger.ms", 60_000)) {
            Future<RecordMetadata> first = producer.send(record(topic), (m, e) -> {
                throw new IllegalStateException("thrown by a callback on purpose");
            });
            producer.send(record(topic), (m, e) -> second.complete(m.offset()));
            producer.flush();

            assertThat(first.get().offset()).isZero();
            assertThat(second.get()).isEqualTo(1);
            assertThat(producer.send(record(topic), (m, e) -> {}).isDone()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldRefuseToFlushInACallback(ProducerKind kind) throws Exception {
        String topic = topic("flush-in-callback", kind, 1);
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig())) {
            Future<RecordMetadata> future = producer.send(record(topic), (m, e) -> {
                try {
                    producer.flush();
                } catch (KafkaException refused) {
                    thrown.complete(refused);
                    throw refused;
                }
            });

            assertThat(future.get().hasOffset()).isTrue();
            assertThat(thrown.get(20, TimeUnit.SECONDS)).isInstanceOf(KafkaException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldNotWaitForItselfWhenClosedInACallback(ProducerKind kind) throws Exception {
        String topic = topic("close-in-callback", kind, 1);
        CountDownLatch returned = new CountDownLatch(1);
        Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig());

        producer.send(record(topic), (m, e) -> {
            producer.close(Duration.ofSeconds(60));
            returned.countDown();
        });

        assertThat(returned.await(20, TimeUnit.SECONDS)).isTrue();
        producer.close();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFlushAllEarlierRecordsAndNotThrowWhenSomeOfThemFail(ProducerKind kind) throws Exception {
        // given a topic with a smaller limit than the producer's
        String small = topic("flush-failing", kind, 1, Map.of("max.message.bytes", "2000"));
        String large = topic("flush-other", kind, 3);
        Map<String, Object> configs = ProducerKind.with(cluster.clientConfig(), "linger.ms", 60_000, "batch.size", 0);
        try (Producer<byte[], byte[]> producer = kind.create(configs)) {
            sendFirstIfStock(producer, large, 3);
            List<Future<RecordMetadata>> futures = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                futures.add(producer.send(new ProducerRecord<>(large, i % 3, null, new byte[10])));
            }
            Future<RecordMetadata> tooLarge = producer.send(record(small, 5000));

            // when
            producer.flush();

            // then
            assertThat(futures).allMatch(Future::isDone);
            assertThat(tooLarge.isDone()).isTrue();
            assertThat(tooLarge)
                    .failsWithin(0, TimeUnit.SECONDS)
                    .withThrowableThat()
                    .withCauseInstanceOf(RecordTooLargeException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldTellAFailedCallbackThePartitionAndNoOffset(ProducerKind kind) throws Exception {
        // given
        String topic = topic("failed-metadata", kind, 2, Map.of("max.message.bytes", "2000"));
        CompletableFuture<RecordMetadata> told = new CompletableFuture<>();

        // when the broker refuses the record
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig())) {
            producer.send(new ProducerRecord<>(topic, 1, null, new byte[5000]), (m, e) -> told.complete(m));
        }

        // then
        RecordMetadata metadata = told.get(0, TimeUnit.SECONDS);
        assertThat(metadata.topic()).isEqualTo(topic);
        assertThat(metadata.partition()).isEqualTo(1);
        assertThat(metadata.offset()).isEqualTo(-1);
        assertThat(metadata.timestamp()).isEqualTo(-1);
    }
}
