package dev.millrace.client.it.semantics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.MillraceProducer;
import dev.millrace.client.support.KafkaClients;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.TopicContents;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.ClusterResource;
import org.apache.kafka.common.ClusterResourceListener;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Interceptors are told the same, in the same order, by the stock producer and by ours. */
class InterceptorsIT {
    /** The calls of interceptors, serializers and callbacks, in order. */
    private static final List<String> EVENTS = new CopyOnWriteArrayList<>();

    @AutoClose
    private static final KafkaCluster cluster = KafkaCluster.builder().start();

    @BeforeEach
    void forget() {
        EVENTS.clear();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldTellInterceptorsThenTheCallerWhenARecordIsAcknowledged(ProducerKind kind) throws Exception {
        String topic = topic("acknowledged", kind);
        try (Producer<Object, Object> producer = create(kind, 0, First.class, Throwing.class, Last.class)) {
            ProducerRecord<Object, Object> record = new ProducerRecord<>(topic, 0, 17L, null, "value");

            producer.send(record, (metadata, error) -> note("callback", metadata, error, null))
                    .get();
        }

        assertThat(EVENTS)
                .containsExactly(
                        "First made for it",
                        "Throwing made for it",
                        "Last made for it",
                        "First sends value",
                        "Throwing sends value,First",
                        "Last sends value,First",
                        "serialize value,First,Last",
                        "First told null of " + topic + "-0@0" + readOnly(2),
                        "Throwing told null of " + topic + "-0@0" + readOnly(2),
                        "Last told null of " + topic + "-0@0" + readOnly(2),
                        "callback told null of " + topic + "-0@0",
                        "First closed",
                        "Throwing closed",
                        "Last closed");
        List<ConsumerRecord<byte[], byte[]>> read = TopicContents.read(cluster.clientConfig(), topic);
        assertThat(read).hasSize(1);
        assertThat(new String(read.get(0).value(), StandardCharsets.UTF_8)).isEqualTo("value,First,Last");
        assertThat(read.get(0).headers().toArray()).hasSize(2);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldTellTheCallerThenInterceptorsWhenARecordIsRefusedAtOnce(ProducerKind kind) {
        String topic = topic("refused", kind);
        try (Producer<Object, Object> producer = create(kind, 0, First.class)) {
            String large = "x".repeat(2_000_000);

            Future<RecordMetadata> keyless = producer.send(
                    new ProducerRecord<>(topic, large), (metadata, error) -> note("callback", metadata, error, null));
            Future<RecordMetadata> explicit = producer.send(
                    new ProducerRecord<>(topic, 0, null, large),
                    (metadata, error) -> note("callback", metadata, error, null));

            assertThatThrownBy(keyless::get).hasCauseInstanceOf(RecordTooLargeException.class);
            assertThatThrownBy(explicit::get).hasCauseInstanceOf(RecordTooLargeException.class);
        }
        assertThat(EVENTS)
                .filteredOn(event -> event.contains("told"))
                .containsExactly(
                        "callback told RecordTooLargeException of " + topic + "--1@-1",
                        "First told RecordTooLargeException of " + topic + "--1@-1" + readOnly(1),
                        "callback told RecordTooLargeException of " + topic + "-0@-1",
                        "First told RecordTooLargeException of " + topic + "-0@-1" + readOnly(1));
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldTellInterceptorsOnlyWhenSendThrows(ProducerKind kind) {
        String topic = topic("thrown", kind);
        Producer<Object, Object> producer = create(kind, 0, First.class);
        ProducerRecord<Object, Object> wrongType = new ProducerRecord<>(topic, 0, 42, "value");
        ProducerRecord<Object, Object> afterClose = new ProducerRecord<>(topic, "late");

        assertThatThrownBy(() -> producer.send(wrongType, (m, e) -> note("callback", m, e, null)))
                .isInstanceOf(SerializationException.class);
        assertThatThrownBy(() -> producer.send(null)).isInstanceOf(NullPointerException.class);
        producer.close();
        assertThatThrownBy(() -> producer.send(afterClose)).isInstanceOf(IllegalStateException.class);

        assertThat(EVENTS)
                .filteredOn(event -> event.contains("told"))
                .containsExactly(
                        "First told SerializationException of " + topic + "-0@-1" + readOnly(1),
                        "First told NullPointerException of null" + readOnly(0),
                        "First told IllegalStateException of " + topic + "--1@-1" + readOnly(1));
        assertThat(wrongType.headers().toArray()).as("still the caller's").hasSize(1);
        wrongType.headers().add("more", new byte[0]);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldTellWhereARecordWasWhenItFailsLater(ProducerKind kind) {
        String topic = topic("expired", kind);
        Producer<Object, Object> producer = create(kind, 60_000, First.class);
        Future<RecordMetadata> future =
                producer.send(new ProducerRecord<>(topic, 0, null, "v"), (m, e) -> note("callback", m, e, null));

        producer.close(Duration.ZERO);

        assertThatThrownBy(future::get).isNotNull();
        assertThat(EVENTS)
                .filteredOn(event -> event.contains("told"))
                .containsExactly(
                        "First told KafkaException of " + topic + "-0@-1" + readOnly(1),
                        "callback told KafkaException of " + topic + "-0@-1");
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldTellTheClusterIdBeforeTheFirstRecordIsSerialized(ProducerKind kind) throws Exception {
        String topic = topic("cluster-id", kind);
        String id = cluster.admin().describeCluster().clusterId().get();
        try (Producer<Object, Object> producer = create(kind, 0, Listening.class)) {
            producer.send(new ProducerRecord<>(topic, 0, null, "value")).get();
        }

        assertThat(EVENTS.subList(0, EVENTS.indexOf("serialize value"))).contains("Listening in " + id);
    }

    private static Producer<Object, Object> create(ProducerKind kind, int lingerMs, Class<?>... interceptors) {
        Map<String, Object> configs = ProducerKind.with(
                cluster.clientConfig(),
                "client.id",
                "it",
                "linger.ms",
                lingerMs,
                "key.serializer",
                StringSerializer.class,
                "value.serializer",
                NotingSerializer.class,
                "interceptor.classes",
                List.of(interceptors));
        return kind == ProducerKind.STOCK ? new KafkaProducer<>(configs) : new MillraceProducer<>(configs);
    }

    private static String topic(String name, ProducerKind kind) {
        String topic = name + "-" + kind.name().toLowerCase(Locale.ROOT);
        kind.createTopic(cluster, topic, 1, 1, Map.of());
        return topic;
    }

    private static void note(String who, RecordMetadata metadata, Exception error, Headers headers) {
        String where =
                metadata == null ? "null" : metadata.topic() + "-" + metadata.partition() + "@" + metadata.offset();
        String what = error == null ? "null" : error.getClass().getSimpleName();
        EVENTS.add(who + " told " + what + " of " + where
                + (headers == null ? "" : " " + access(headers) + " " + headers.toArray().length));
    }

    /** What is noted of this many headers, which older versions do not tell. */
    private static String readOnly(int headers) {
        return KafkaClients.hasHeadersInAcknowledgement() ? " read-only " + headers : "";
    }

    private static String access(Headers headers) {
        try {
            headers.add("probe", new byte[0]);
            return "writable";
        } catch (IllegalStateException e) {
            return "read-only";
        }
    }

    /** Appends its name to the value and adds a header. */
    public static class First implements ProducerInterceptor<Object, Object> {
        private final String name = getClass().getSimpleName();

        @Override
        public void configure(Map<String, ?> configs) {
            EVENTS.add(name + " made for " + configs.get("client.id"));
        }

        @Override
        public ProducerRecord<Object, Object> onSend(ProducerRecord<Object, Object> record) {
            if (record.value().toString().length() < 100) {
                EVENTS.add(name + " sends " + record.value());
            }
            record.headers().add(name, new byte[1]);
            return new ProducerRecord<>(
                    record.topic(),
                    record.partition(),
                    record.timestamp(),
                    record.key(),
                    record.value() + "," + name,
                    record.headers());
        }

        /** For versions that tell no headers. */
        @Override
        public void onAcknowledgement(RecordMetadata metadata, Exception error) {
            onAcknowledgement(metadata, error, null);
        }

        @Override
        public void onAcknowledgement(RecordMetadata metadata, Exception error, Headers headers) {
            note(name, metadata, error, headers);
        }

        @Override
        public void close() {
            EVENTS.add(name + " closed");
        }
    }

    /** Throws in every method. */
    public static final class Throwing extends First {
        @Override
        public ProducerRecord<Object, Object> onSend(ProducerRecord<Object, Object> record) {
            EVENTS.add("Throwing sends " + record.value());
            throw new IllegalStateException("planted");
        }

        @Override
        public void onAcknowledgement(RecordMetadata metadata, Exception error, Headers headers) {
            super.onAcknowledgement(metadata, error, headers);
            throw new IllegalStateException("planted");
        }

        @Override
        public void close() {
            super.close();
            throw new IllegalStateException("planted");
        }
    }

    /** The same under another name. */
    public static final class Last extends First {}

    /** Listens for the cluster's id, and does not change records. */
    public static final class Listening implements ProducerInterceptor<Object, Object>, ClusterResourceListener {
        @Override
        public void configure(Map<String, ?> configs) {}

        @Override
        public void onUpdate(ClusterResource cluster) {
            EVENTS.add("Listening in " + cluster.clusterId());
        }

        @Override
        public ProducerRecord<Object, Object> onSend(ProducerRecord<Object, Object> record) {
            return record;
        }

        /** Abstract in versions that tell no headers. */
        @Override
        public void onAcknowledgement(RecordMetadata metadata, Exception error) {}

        @Override
        public void close() {}
    }

    /** Records when it is called. */
    public static final class NotingSerializer implements Serializer<Object> {
        @Override
        public byte[] serialize(String topic, Object value) {
            String text = (String) value;
            if (text.length() < 100) {
                EVENTS.add("serialize " + text);
            }
            return text.getBytes(StandardCharsets.UTF_8);
        }
    }
}
