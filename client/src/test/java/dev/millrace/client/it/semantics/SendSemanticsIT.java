package dev.millrace.client.it.semantics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.millrace.client.MillraceProducer;
import dev.millrace.client.support.BlockedCall;
import dev.millrace.client.support.LogLines;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.SingleBrokerFixture;
import dev.millrace.client.support.Tries;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.cluster.TopicContents;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What {@code send} itself does: which mistakes fail the future, which are thrown, and how it leaves the record. */
class SendSemanticsIT extends SingleBrokerFixture {
    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailTheFutureAndNameBudgetAndCauseWhenTheTopicIsUnknown(ProducerKind kind) {
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "max.block.ms", 2_000)) {
            Refusal refusal = Refusal.of(producer, record("no-such-topic"));

            assertThat(refusal.reason)
                    .isInstanceOf(TimeoutException.class)
                    .hasMessageContaining("no-such-topic")
                    .hasMessageContaining("2000 ms")
                    .hasCauseInstanceOf(UnknownTopicOrPartitionException.class);
            assertThat(refusal.metadata.partition()).isEqualTo(-1);
        }
    }

    /** The stock producer warns of each answer; a program that ignores futures needs to hear of it once. */
    @Test
    void shouldWarnOnceWhenATopicIsMissing() throws Exception {
        cluster.createTopic("missing-later", 1, 1, Map.of());
        try (LogLines log = new LogLines("dev.millrace.client", Level.WARN);
                Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(
                        cluster.clientConfig(), "max.block.ms", 1_000, "metadata.max.age.ms", 100)) {
            // when two threads wait for a topic, and one of them again
            BlockedCall other = BlockedCall.of(() -> Refusal.of(producer, record("never-made")));
            Refusal.of(producer, record("never-made"));
            Refusal.of(producer, record("never-made"));
            assertThat(other.thrown()).isNull();
            // and another topic is deleted
            producer.send(record("missing-later")).get();
            cluster.admin().deleteTopics(List.of("missing-later")).all().get();
            Await.until("a warning", PATIENCE, () -> !log.with("missing-later").isEmpty());
            Refusal.of(producer, record("missing-later"));

            // then
            assertThat(log.with("never-made"))
                    .singleElement()
                    .asString()
                    .startsWith("WARN")
                    .contains("UnknownTopicOrPartitionException");
            assertThat(log.with("missing-later")).singleElement().asString().startsWith("WARN");
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailTheFutureWhenTheTopicNameIsInvalid(ProducerKind kind) {
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig())) {
            Refusal refusal = Refusal.of(producer, record("not a topic"));

            assertThat(refusal.reason).isInstanceOf(InvalidTopicException.class);
            assertThat(refusal.metadata.partition()).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailTheFutureWhenTheTopicHasNoNameAndGoOnWithOthers(ProducerKind kind) throws Exception {
        String topic = topic("named", kind, 1);
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig())) {
            Refusal refusal = Refusal.of(producer, record(""));

            assertThat(refusal.reason).isInstanceOf(InvalidTopicException.class).hasMessageContaining("Invalid topics");
            assertThat(producer.send(record(topic)).get().hasOffset()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailTheFutureWhenTheRecordIsTooLarge(ProducerKind kind) {
        String topic = topic("too-large", kind, 1);
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "max.request.size", 1000)) {
            Refusal refusal = Refusal.of(producer, record(topic, 1000));

            assertThat(refusal.reason).isInstanceOf(RecordTooLargeException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailTheFutureWhenThePasswordIsWrong(ProducerKind kind) {
        Map<String, Object> client = cluster.clientConfig(Listener.SASL_PLAINTEXT);
        String jaas = client.get("sasl.jaas.config").toString().replaceAll("password=\"[^\"]*\"", "password=\"wrong\"");
        try (Producer<byte[], byte[]> producer = kind.create(client, "sasl.jaas.config", jaas)) {
            Refusal refusal = Refusal.of(producer, record("any"));

            assertThat(refusal.reason).isInstanceOf(SaslAuthenticationException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldNamePartitionTopicAndCountWhenThePartitionDoesNotExist(ProducerKind kind) {
        // given
        String topic = topic("two-partitions", kind, 2);

        // when
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "max.block.ms", 500)) {
            Tries.untilKnown(producer, topic);
            Refusal refusal = Refusal.of(producer, new ProducerRecord<>(topic, 7, null, new byte[1]));

            // then
            assertThat(refusal.reason)
                    .isInstanceOf(TimeoutException.class)
                    .hasMessageContaining("Partition 7 of topic " + topic + " with partition count 2")
                    .hasMessageContaining("500 ms");
            assertThat(refusal.metadata.partition()).isEqualTo(7);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFindAPartitionThatIsAddedWhileTheSenderWaits(ProducerKind kind) throws Exception {
        // given a producer that knows one partition
        String topic = topic("grows", kind, 1);
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig())) {
            producer.send(record(topic)).get();
            BlockedCall blocked = BlockedCall.of(() -> producer.send(new ProducerRecord<>(topic, 2, null, new byte[1]))
                    .get());

            // when
            cluster.admin()
                    .createPartitions(Map.of(topic, NewPartitions.increaseTo(3)))
                    .all()
                    .get();

            // then
            assertThat(blocked.thrown()).isNull();
        }
        assertThat(TopicContents.read(cluster.clientConfig(), topic))
                .extracting(ConsumerRecord::partition)
                .containsExactly(0, 2);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldThrowWithoutCallbackWhenAValueCannotBeSerialized(ProducerKind kind) {
        String topic = topic("serialized", kind, 1);
        AtomicInteger callbacks = new AtomicInteger();
        try (Producer<Object, Object> producer = withStrings(kind)) {
            assertThatThrownBy(() -> producer.send(
                            new ProducerRecord<>(topic, "key", 42), (m, e) -> callbacks.incrementAndGet()))
                    .isInstanceOf(SerializationException.class)
                    .hasMessageContaining("java.lang.Integer")
                    .hasCauseInstanceOf(ClassCastException.class);
            assertThatThrownBy(() -> producer.send(
                            new ProducerRecord<>(topic, 42L, "value"), (m, e) -> callbacks.incrementAndGet()))
                    .isInstanceOf(SerializationException.class)
                    .hasMessageContaining("java.lang.Long");
        }
        assertThat(callbacks).hasValue(0);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldThrowWithoutCallbackWhenThePartitionMakesNoSense(ProducerKind kind) {
        String topic = topic("negative", kind, 1);
        AtomicInteger callbacks = new AtomicInteger();
        try (Producer<byte[], byte[]> producer =
                kind.create(cluster.clientConfig(), "partitioner.class", NegativePartitioner.class)) {
            assertThatThrownBy(() -> producer.send(record(topic), (m, e) -> callbacks.incrementAndGet()))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> new ProducerRecord<>(topic, -1, null, new byte[1]))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(callbacks).hasValue(0);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldThrowWithoutCallbackAfterClose(ProducerKind kind) {
        AtomicInteger callbacks = new AtomicInteger();
        Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig());
        producer.close();

        assertThatThrownBy(() -> producer.send(record("closed"), (m, e) -> callbacks.incrementAndGet()))
                .isInstanceOf(IllegalStateException.class);
        assertThat(callbacks).hasValue(0);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldWaitForTheTopicBeforeItSerializes(ProducerKind kind) {
        try (Producer<Object, Object> producer = withStrings(kind, "max.block.ms", 200)) {
            Future<RecordMetadata> future = producer.send(new ProducerRecord<>("no-such-topic", "key", 42));

            assertThatThrownBy(future::get).hasCauseInstanceOf(TimeoutException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldSendARecordWithoutKeyAndValue(ProducerKind kind) throws Exception {
        String topic = topic("nothing", kind, 1);
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig())) {
            RecordMetadata told =
                    producer.send(new ProducerRecord<>(topic, null, null)).get();

            assertThat(told.serializedKeySize()).isEqualTo(-1);
            assertThat(told.serializedValueSize()).isEqualTo(-1);
        }
        ConsumerRecord<byte[], byte[]> found =
                TopicContents.read(cluster.clientConfig(), topic).get(0);
        assertThat(found.key()).isNull();
        assertThat(found.value()).isNull();
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
    void shouldLeaveHeadersReadOnlyWhenSendFailsAfterThePartitionIsChosen(ProducerKind kind) {
        String topic = topic("headers-too-large", kind, 1);
        try (Producer<byte[], byte[]> producer =
                kind.create(cluster.clientConfig(), "max.request.size", 1000, "max.block.ms", 200)) {
            Tries.untilKnown(producer, topic);
            ProducerRecord<byte[], byte[]> tooLarge = record(topic, 1000);
            ProducerRecord<byte[], byte[]> nowhere = record("no-such-topic");

            assertThatThrownBy(producer.send(tooLarge)::get).hasCauseInstanceOf(RecordTooLargeException.class);
            assertThatThrownBy(producer.send(nowhere)::get).hasCauseInstanceOf(TimeoutException.class);

            assertThatThrownBy(() -> tooLarge.headers().add("late", new byte[1]))
                    .isInstanceOf(IllegalStateException.class);
            assertThat(nowhere.headers().add("still", new byte[1]).toArray()).hasSize(1);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldSendWithoutAnswersWhenAcksAreZero(ProducerKind kind) throws Exception {
        // given
        String topic = topic("acks-zero", kind, 1);

        // when
        RecordMetadata told;
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "acks", "0")) {
            told = producer.send(record(topic)).get();
        }

        // then
        assertThat(told.hasOffset()).isFalse();
        assertThat(told.offset()).isEqualTo(-1);
        assertThat(told.partition()).isZero();
        assertThat(TopicContents.read(cluster.clientConfig(), topic)).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldTellTheBrokersTimestampWhenTheTopicAsksForIt(ProducerKind kind) throws Exception {
        // given
        String topic = topic("log-append-time", kind, 1, Map.of("message.timestamp.type", "LogAppendTime"));

        // when
        RecordMetadata told;
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig())) {
            told = producer.send(new ProducerRecord<>(topic, 0, 42L, null, new byte[1]))
                    .get();
        }

        // then
        ConsumerRecord<byte[], byte[]> found =
                TopicContents.read(cluster.clientConfig(), topic).get(0);
        assertThat(found.timestamp()).isGreaterThan(42L);
        assertThat(told.timestamp()).isEqualTo(found.timestamp());
    }

    private static Producer<Object, Object> withStrings(ProducerKind kind, Object... more) {
        Map<String, Object> configs = ProducerKind.with(cluster.clientConfig(), more);
        configs.put("key.serializer", StringSerializer.class);
        configs.put("value.serializer", StringSerializer.class);
        return kind == ProducerKind.STOCK ? new KafkaProducer<>(configs) : new MillraceProducer<>(configs);
    }

    /**
     * Sends a record that {@code send} refuses by a failed future, after running its callback in the calling thread.
     */
    private static final class Refusal {
        private Exception reason;
        private RecordMetadata metadata;
        private Thread thread;
        private int callbacks;

        static Refusal of(Producer<byte[], byte[]> producer, ProducerRecord<byte[], byte[]> record) {
            Refusal refusal = new Refusal();
            Future<RecordMetadata> future = producer.send(record, (m, e) -> {
                refusal.metadata = m;
                refusal.reason = e;
                refusal.thread = Thread.currentThread();
                refusal.callbacks++;
            });
            assertThat(refusal.callbacks).isEqualTo(1);
            assertThat(refusal.thread).isSameAs(Thread.currentThread());
            assertThat(refusal.reason).isInstanceOf(ApiException.class);
            assertThat(refusal.metadata.offset()).isEqualTo(-1);
            assertThat(refusal.metadata.topic()).isEqualTo(record.topic());
            assertThatThrownBy(() -> future.get(0, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isSameAs(refusal.reason);
            return refusal;
        }
    }

    /** Chooses a partition that no topic has. */
    public static final class NegativePartitioner implements Partitioner {
        @Override
        public int partition(String topic, Object key, byte[] k, Object value, byte[] v, Cluster cluster) {
            return -2;
        }

        @Override
        public void configure(Map<String, ?> configs) {}

        @Override
        public void close() {}
    }
}
