package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.KafkaCluster;
import dev.millrace.testkit.Listener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The same mistakes end the same way with the stock producer and with ours. */
class FailureSemanticsIT {
    private static KafkaCluster cluster;

    @BeforeAll
    static void start() {
        cluster = KafkaCluster.builder()
                .listeners(Listener.PLAINTEXT, Listener.SASL_PLAINTEXT)
                .start();
    }

    @AfterAll
    static void stop() {
        cluster.close();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailTheFutureAndNameBudgetAndCauseWhenTheTopicIsUnknown(ProducerKind kind) {
        // given
        AtomicReference<RecordMetadata> metadata = new AtomicReference<>();
        AtomicReference<Thread> callbackThread = new AtomicReference<>();

        // when
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "max.block.ms", 700)) {
            Future<RecordMetadata> future = producer.send(record("no-such-topic"), (m, e) -> {
                metadata.set(m);
                callbackThread.set(Thread.currentThread());
            });

            // then
            assertThatThrownBy(future::get)
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOf(TimeoutException.class)
                    .hasMessageContaining("no-such-topic")
                    .hasMessageContaining("700 ms")
                    .hasCauseInstanceOf(UnknownTopicOrPartitionException.class);
        }
        assertThat(callbackThread.get()).isSameAs(Thread.currentThread());
        assertThat(metadata.get().offset()).isEqualTo(-1);
        assertThat(metadata.get().partition()).isEqualTo(-1);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailAtOnceWhenTheTopicNameIsInvalid(ProducerKind kind) {
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig())) {
            Future<RecordMetadata> future = producer.send(record("not a topic"));

            assertThatThrownBy(future::get).hasCauseInstanceOf(InvalidTopicException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldNamePartitionTopicAndCountWhenThePartitionDoesNotExist(ProducerKind kind) {
        // given
        String topic = topic("two-partitions", kind, 2);

        // when
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "max.block.ms", 500)) {
            Future<RecordMetadata> future = producer.send(new ProducerRecord<>(topic, 7, null, new byte[1]));

            // then
            assertThatThrownBy(future::get)
                    .cause()
                    .isInstanceOf(TimeoutException.class)
                    .hasMessageContaining("Partition 7 of topic " + topic + " with partition count 2");
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldRefuseARecordLargerThanBufferMemory(ProducerKind kind) {
        String topic = topic("larger-than-memory", kind, 1);
        try (Producer<byte[], byte[]> producer =
                kind.create(cluster.clientConfig(), "buffer.memory", 50_000L, "batch.size", 1000)) {
            Future<RecordMetadata> future = producer.send(new ProducerRecord<>(topic, new byte[50_000]));

            assertThatThrownBy(future::get).hasCauseInstanceOf(RecordTooLargeException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldThrowWhenAValueCannotBeSerialized(ProducerKind kind) {
        String topic = topic("serialized", kind, 1);
        Map<String, Object> configs = ProducerKind.with(
                cluster.clientConfig(),
                "key.serializer",
                StringSerializer.class,
                "value.serializer",
                StringSerializer.class);
        try (Producer<Object, Object> producer =
                kind == ProducerKind.STOCK ? new KafkaProducer<>(configs) : new MillraceProducer<>(configs)) {
            assertThatThrownBy(() -> producer.send(new ProducerRecord<>(topic, "key", 42)))
                    .isInstanceOf(SerializationException.class)
                    .hasMessageContaining("java.lang.Integer");
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldLeaveHeadersReadOnlyAndLetTheRecordBeSentAgain(ProducerKind kind) throws Exception {
        String topic = topic("headers", kind, 1);
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig())) {
            ProducerRecord<byte[], byte[]> record = record(topic);
            producer.send(record).get();

            assertThatThrownBy(() -> record.headers().add("late", new byte[1]))
                    .isInstanceOf(IllegalStateException.class);
            assertThat(producer.send(record).get().offset()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailWithBufferExhaustedWhenNoMemoryComesBackInTime(ProducerKind kind) throws Exception {
        // given a broker that does not answer
        String topic = topic("memory", kind, 1);
        try (Producer<byte[], byte[]> producer = kind.create(
                cluster.clientConfig(), "buffer.memory", 64_000L, "batch.size", 16_000, "max.block.ms", 300)) {
            producer.send(record(topic)).get();
            cluster.pause(1);
            List<Future<RecordMetadata>> futures = new ArrayList<>();

            // when
            try {
                for (int i = 0; i < 8; i++) {
                    futures.add(producer.send(new ProducerRecord<>(topic, new byte[15_000])));
                }
            } finally {
                cluster.resume(1);
            }

            // then
            assertThatThrownBy(() -> futures.get(7).get()).hasCauseInstanceOf(BufferExhaustedException.class);
            for (Future<RecordMetadata> accepted : futures.subList(0, 3)) {
                assertThat(accepted.get().hasOffset()).isTrue();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldThrowAndKeepTheFlagWhenInterruptedWaitingForATopic(ProducerKind kind) {
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig())) {
            Thread.currentThread().interrupt();

            assertThatThrownBy(() -> producer.send(record("interrupted-" + kind)))
                    .isInstanceOf(InterruptException.class);
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldThrowWhenInterruptedInFlush(ProducerKind kind) {
        String topic = topic("flush-interrupted", kind, 1);
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "linger.ms", 60_000)) {
            producer.send(record(topic));
            producer.flush();
            cluster.pause(1);
            try {
                producer.send(record(topic));
                Thread.currentThread().interrupt();

                assertThatThrownBy(producer::flush).isInstanceOf(InterruptException.class);
                assertThat(Thread.interrupted()).isTrue();
            } finally {
                cluster.resume(1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldThrowAfterClose(ProducerKind kind) {
        Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig());
        producer.close();

        assertThatThrownBy(() -> producer.send(record("closed"))).isInstanceOf(IllegalStateException.class);
        producer.close(Duration.ZERO);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldRefuseANegativeTimeout(ProducerKind kind) {
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig())) {
            assertThatThrownBy(() -> producer.close(Duration.ofMillis(-1)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailWhatIsLeftWhenClosedWithoutTime(ProducerKind kind) {
        // given records that linger
        String topic = topic("left", kind, 1);
        Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "linger.ms", 60_000);
        Future<RecordMetadata> future = producer.send(record(topic));

        // when
        producer.close(Duration.ZERO);

        // then
        assertThatThrownBy(future::get)
                .cause()
                .isInstanceOf(KafkaException.class)
                .hasMessageContaining("closed forcefully");
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldSendWhatLingersWhenClosedWithTime(ProducerKind kind) throws Exception {
        String topic = topic("lingering", kind, 1);
        Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "linger.ms", 60_000);
        Future<RecordMetadata> future = producer.send(record(topic));

        producer.close(Duration.ofSeconds(20));

        assertThat(future.get(0, TimeUnit.SECONDS).hasOffset()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldWakeAThreadThatWaitsForATopicWhenClosed(ProducerKind kind) throws Exception {
        // given
        Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "max.block.ms", 60_000);
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread waiting = new Thread(() -> {
            try {
                producer.send(record("never-there"));
            } catch (Throwable t) {
                thrown.set(t);
            }
        });
        waiting.start();
        Await.until(
                "the sender waits",
                Duration.ofSeconds(20),
                () -> waiting.getState() == Thread.State.TIMED_WAITING || waiting.getState() == Thread.State.WAITING);

        // when
        producer.close(Duration.ofSeconds(20));
        waiting.join(20_000);

        // then
        assertThat(waiting.isAlive()).isFalse();
        assertThat(thrown.get()).isInstanceOf(KafkaException.class).hasMessageContaining("closed");
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldRefuseToFlushInACallbackAndLogWhatItThrows(ProducerKind kind) throws Exception {
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
    void shouldCompleteTheFutureAfterItsCallback(ProducerKind kind) throws Exception {
        String topic = topic("callback-first", kind, 1);
        AtomicReference<Future<RecordMetadata>> future = new AtomicReference<>();
        CompletableFuture<Boolean> doneInCallback = new CompletableFuture<>();
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "linger.ms", 60_000)) {
            future.set(producer.send(
                    record(topic),
                    (m, e) -> doneInCallback.complete(future.get().isDone())));
            producer.flush();
        }

        assertThat(doneInCallback.get()).isFalse();
        assertThat(future.get().isDone()).isTrue();
        assertThat(future.get().cancel(true)).isFalse();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailAtOnceWhenThePasswordIsWrong(ProducerKind kind) {
        Map<String, Object> client = cluster.clientConfig(Listener.SASL_PLAINTEXT);
        String jaas = client.get("sasl.jaas.config").toString().replaceAll("password=\"[^\"]*\"", "password=\"wrong\"");
        try (Producer<byte[], byte[]> producer = kind.create(client, "sasl.jaas.config", jaas)) {
            Future<RecordMetadata> future = producer.send(record("any"));

            assertThatThrownBy(() -> future.get(0, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(SaslAuthenticationException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailOnlyTheRecordThatTheBrokerFindsTooLarge(ProducerKind kind) throws Exception {
        // given a topic that takes less than the producer
        String topic = "small-messages-" + kind.name().toLowerCase(Locale.ROOT);
        cluster.createTopic(topic, 1, 1, Map.of("max.message.bytes", "2000"));

        // when
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "batch.size", 0)) {
            List<Future<RecordMetadata>> before = new ArrayList<>();
            List<Future<RecordMetadata>> after = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                before.add(producer.send(new ProducerRecord<>(topic, new byte[10])));
            }
            Future<RecordMetadata> tooLarge = producer.send(new ProducerRecord<>(topic, new byte[5000]));
            for (int i = 0; i < 20; i++) {
                after.add(producer.send(new ProducerRecord<>(topic, new byte[10])));
            }

            // then
            assertThatThrownBy(tooLarge::get).hasCauseInstanceOf(RecordTooLargeException.class);
            for (int i = 0; i < 20; i++) {
                assertThat(before.get(i).get().offset()).isEqualTo(i);
                assertThat(after.get(i).get().offset()).isEqualTo(20 + i);
            }
        }
        assertThat(TopicContents.read(cluster.clientConfig(), topic)).hasSize(40);
    }

    @Test
    void shouldExpireRecordsWhenNoBrokerAnswersWithinDeliveryTimeout() throws Exception {
        // given
        String topic = topic("expiring", ProducerKind.MILLRACE, 1);
        try (Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(
                cluster.clientConfig(), "request.timeout.ms", 400, "delivery.timeout.ms", 1000, "linger.ms", 0)) {
            producer.send(record(topic)).get();
            cluster.pause(1);

            // when
            Future<RecordMetadata> expired;
            try {
                expired = producer.send(record(topic));
                assertThatThrownBy(expired::get).hasCauseInstanceOf(TimeoutException.class);
            } finally {
                cluster.resume(1);
            }

            // then the partition goes on
            assertThat(producer.send(record(topic)).get(20, TimeUnit.SECONDS).hasOffset())
                    .isTrue();
        }
    }

    private static String topic(String name, ProducerKind kind, int partitions) {
        String topic = name + "-" + kind.name().toLowerCase(Locale.ROOT);
        cluster.createTopic(topic, partitions, 1, Map.of());
        return topic;
    }

    private static ProducerRecord<byte[], byte[]> record(String topic) {
        return new ProducerRecord<>(topic, new byte[10]);
    }
}
