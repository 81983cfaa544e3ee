package dev.millrace.testkit.stub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.testkit.Clients;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StubBrokerTest {
    @AutoClose
    private static StubBroker stub;

    @AutoClose
    private static StubBroker secure;

    @BeforeAll
    static void start() {
        stub = StubBroker.builder()
                .topic("none", 1)
                .topic("lz4", 1)
                .topic("wide", 1000)
                .topic("large", 1)
                .topic("silent", 1)
                .topics("numbered-", 3, 2)
                .brokers(3)
                .start();
        secure = StubBroker.builder().topic("t", 2).brokers(2).tls().start();
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "lz4"})
    void shouldGiveRisingOffsetsWhenProducerIsIdempotentWithCompression(String compression) throws Exception {
        Map<String, Object> config = config(stub);
        config.put("enable.idempotence", true);
        config.put("compression.type", compression);
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        try (Producer<byte[], byte[]> producer = Clients.bytesProducer(config)) {
            long first = producer.send(new ProducerRecord<>(compression, new byte[100]))
                    .get()
                    .offset();

            for (int i = 0; i < 100_000; i++) {
                sent.add(producer.send(new ProducerRecord<>(compression, new byte[100])));
            }

            for (int i = 0; i < sent.size(); i++) {
                assertThat(sent.get(i).get().offset()).isEqualTo(first + 1 + i);
            }
        }
    }

    @Test
    void shouldAcknowledgeEachPartitionWhenThereAreMany() throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        try (Producer<byte[], byte[]> producer = Clients.bytesProducer(config(stub))) {
            for (int i = 0; i < 3000; i++) {
                sent.add(producer.send(new ProducerRecord<>("wide", i % 1000, null, new byte[10])));
            }
        }

        for (int i = 0; i < sent.size(); i++) {
            assertThat(sent.get(i).get().partition()).isEqualTo(i % 1000);
            assertThat(sent.get(i).get().offset()).isEqualTo(i / 1000);
        }
    }

    @Test
    void shouldHaveAllTopicsThatDifferInTheirNumbers() throws Exception {
        try (Producer<byte[], byte[]> producer = Clients.bytesProducer(config(stub))) {
            for (String topic : List.of("numbered-0", "numbered-2")) {
                assertThat(producer.partitionsFor(topic)).hasSize(2);
                assertThat(producer.send(new ProducerRecord<>(topic, new byte[10]))
                                .get()
                                .offset())
                        .isZero();
            }
        }
    }

    @Test
    void shouldAcknowledgeWhenRequestIsLargerThanAnyBuffer() throws Exception {
        Map<String, Object> config = config(stub);
        config.put("max.request.size", 20_000_000);

        try (Producer<byte[], byte[]> producer = Clients.bytesProducer(config)) {
            RecordMetadata metadata = producer.send(new ProducerRecord<>("large", new byte[10_000_000]))
                    .get();

            assertThat(metadata.offset()).isZero();
        }
    }

    @Test
    void shouldSendNoResponseWhenProducerWantsNone() throws Exception {
        Map<String, Object> config = config(stub);
        config.put("acks", "0");
        config.put("enable.idempotence", false);

        try (Producer<byte[], byte[]> producer = Clients.bytesProducer(config)) {
            RecordMetadata metadata =
                    producer.send(new ProducerRecord<>("silent", new byte[10])).get();

            assertThat(metadata.hasOffset()).isFalse();
        }
        try (Producer<byte[], byte[]> producer = Clients.bytesProducer(config(stub))) {
            RecordMetadata metadata =
                    producer.send(new ProducerRecord<>("silent", new byte[10])).get();

            assertThat(metadata.offset()).isEqualTo(1);
        }
    }

    @Test
    void shouldTellNoSuchTopicWhenItHasNotGotIt() {
        Map<String, Object> config = config(stub);
        config.put("max.block.ms", 500);

        try (Producer<byte[], byte[]> producer = Clients.bytesProducer(config)) {
            Future<RecordMetadata> sent = producer.send(new ProducerRecord<>("unknown", new byte[10]));

            assertThatThrownBy(sent::get).hasCauseInstanceOf(TimeoutException.class);
        }
    }

    @Test
    void shouldHoldResponsesBackWhenDelayIsSet() throws Exception {
        try (StubBroker slow =
                        StubBroker.builder().topic("t", 1).delayMillis(50).start();
                Producer<byte[], byte[]> producer = Clients.bytesProducer(config(slow))) {
            producer.send(new ProducerRecord<>("t", new byte[10])).get();

            long start = System.nanoTime();
            producer.send(new ProducerRecord<>("t", new byte[10])).get();

            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(50));
        }
    }

    @Test
    void shouldAcknowledgeRequestsOfAnySizeWhenItSpeaksTls() throws Exception {
        Map<String, Object> config = secure.clientConfig();
        config.put("max.request.size", 20_000_000);
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        try (Producer<byte[], byte[]> producer = Clients.bytesProducer(config)) {
            for (int size : new int[] {10, 10_000_000, 100_000}) {
                for (int i = 0; i < 10_000_000 / Math.max(size, 1000); i++) {
                    sent.add(producer.send(new ProducerRecord<>("t", i % 2, null, new byte[size])));
                }
            }
        }

        long[] next = new long[2];
        for (Future<RecordMetadata> future : sent) {
            assertThat(future.get().offset()).isEqualTo(next[future.get().partition()]++);
        }
    }

    @Test
    void shouldRefuseClientWithoutTlsWhenItSpeaksTls() {
        Map<String, Object> config = config(secure);
        config.put("max.block.ms", 500);

        try (Producer<byte[], byte[]> producer = Clients.bytesProducer(config)) {
            Future<RecordMetadata> sent = producer.send(new ProducerRecord<>("t", new byte[10]));

            assertThatThrownBy(sent::get).hasCauseInstanceOf(TimeoutException.class);
        }
    }

    @Test
    void shouldAnswerInVersionZeroWhenClientIsTooNew() throws IOException {
        ByteBuffer request = ByteBuffer.allocate(64)
                .putInt(0)
                .putShort(ApiMessageType.API_VERSIONS.apiKey())
                .putShort((short) 99)
                .putInt(4711)
                .put(new byte[] {1, 2, 3}); // part of a header that the stub does not know
        request.putInt(0, request.position() - Integer.BYTES);

        ByteBuffer response = exchange(request.flip());

        assertThat(response.getInt()).isEqualTo(4711);
        ApiVersionsResponseData data = new ApiVersionsResponseData(new ByteBufferAccessor(response), (short) 0);
        assertThat(data.errorCode()).isEqualTo(Errors.UNSUPPORTED_VERSION.code());
        assertThat(data.apiKeys().find(ApiMessageType.API_VERSIONS.apiKey()).maxVersion())
                .isEqualTo((short) 4);
        assertThat(response.hasRemaining()).isFalse();
    }

    private static ByteBuffer exchange(ByteBuffer request) throws IOException {
        URI address = URI.create("tcp://" + stub.bootstrapServers().split(",", 2)[0]);
        byte[] bytes = new byte[request.remaining()];
        request.get(bytes);
        try (Socket socket = new Socket(address.getHost(), address.getPort())) {
            socket.getOutputStream().write(bytes);
            DataInputStream in = new DataInputStream(socket.getInputStream());
            return ByteBuffer.wrap(in.readNBytes(in.readInt()));
        }
    }

    private static Map<String, Object> config(StubBroker broker) {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", broker.bootstrapServers());
        return config;
    }
}
