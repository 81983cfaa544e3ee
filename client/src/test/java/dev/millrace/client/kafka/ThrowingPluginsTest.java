package dev.millrace.client.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.ClusterResource;
import org.apache.kafka.common.ClusterResourceListener;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

/** An {@code Error} of one of the application's objects, at which the stock producer's I/O thread ends. */
class ThrowingPluginsTest {
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);
    private static final RecordMetadata METADATA = new RecordMetadata(PARTITION, 7, 0, 0, 0, 0);

    private final List<String> told = new ArrayList<>();
    private final Interceptors<byte[], byte[]> interceptors =
            new Interceptors<>(List.of(new Throwing("first"), new Throwing("second")));

    @Test
    void shouldTellTheOtherInterceptorsAndTheCallerWhenOneMeetsAnError() {
        Callback callback = interceptors.wrap((metadata, error) -> told.add("caller"), new RecordHeaders());

        callback.onCompletion(METADATA, null);

        assertThat(told).containsExactly("first", "second", "caller");
    }

    @Test
    void shouldTellTheOtherInterceptorsOfARefusalWhenOneMeetsAnError() {
        interceptors.onRefused(new ProducerRecord<>("t", new byte[1]), PARTITION, new KafkaException("no"));

        assertThat(told).containsExactly("first", "second");
    }

    @Test
    void shouldThrowNothingWhenMemoryIsUsedUpBeforeTheInterceptorsAreTold() {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>("t", new byte[1]) {
            @Override
            public Headers headers() {
                throw new OutOfMemoryError("thrown on purpose");
            }
        };

        assertThatCode(() -> interceptors.onRefused(record, PARTITION, new KafkaException("no")))
                .doesNotThrowAnyException();
    }

    @Test
    void shouldGoOnWithTheMetadataWhenAListenerForTheClusterIdMeetsAnError() {
        ThrowingListener listener = new ThrowingListener();
        ProducerConfig config = new ProducerConfig(Map.of(
                "bootstrap.servers",
                "localhost:1",
                "key.serializer",
                ByteArraySerializer.class,
                "value.serializer",
                ByteArraySerializer.class));
        try (KafkaBridge kafka = new KafkaBridge(config)) {
            kafka.createPlugins(new ByteArraySerializer(), listener);

            assertThatCode(() -> kafka.onClusterId("c")).doesNotThrowAnyException();

            assertThat(listener.calls).isOne();
        }
    }

    private static final class ThrowingListener extends ByteArraySerializer implements ClusterResourceListener {
        private int calls;

        @Override
        public void onUpdate(ClusterResource cluster) {
            calls++;
            throw new LinkageError("thrown on purpose");
        }
    }

    private final class Throwing implements ProducerInterceptor<byte[], byte[]> {
        private final String name;

        private Throwing(String name) {
            this.name = name;
        }

        @Override
        public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
            return record;
        }

        @Override
        public void onAcknowledgement(RecordMetadata metadata, Exception error, Headers headers) {
            told.add(name);
            throw new LinkageError("thrown on purpose");
        }

        @Override
        public void close() {}

        @Override
        public void configure(Map<String, ?> configs) {}
    }
}
