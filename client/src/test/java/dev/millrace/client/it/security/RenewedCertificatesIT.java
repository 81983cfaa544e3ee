package dev.millrace.client.it.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.ReloadingSslEngineFactory;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.Certificates;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A producer whose certificate is replaced while it runs; the stock producer takes the same class from us. */
@Tag("thorough")
class RenewedCertificatesIT {
    private static final String LOCATION = "ssl.keystore.location";
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @AutoClose
    private static final KafkaCluster cluster =
            KafkaCluster.builder().listeners(Listener.SSL_MUTUAL).start();

    @TempDir
    private Path folder;

    private int changes;

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldConnectWithWhatTheFilesHoldAtTheTime(ProducerKind kind) throws Exception {
        // given
        Map<String, Object> config = new HashMap<>(cluster.clientConfig(Listener.SSL_MUTUAL));
        Path good = Path.of(config.get(LOCATION).toString());
        Path used = folder.resolve("client.p12");
        put(good, used);
        config.put(LOCATION, used.toString());
        config.put("ssl.engine.factory.class", ReloadingSslEngineFactory.class.getName());
        config.put("request.timeout.ms", "10000");
        config.put("delivery.timeout.ms", "30000");
        String topic = "renewed-" + kind;
        cluster.createTopic(topic, 1, 1, Map.of());

        try (Producer<byte[], byte[]> producer = kind.create(config)) {
            send(producer, topic, "first");

            // when a damaged file is in the place of its certificate, and all connections are new
            Files.write(used, new byte[] {1, 2, 3});
            age(used);
            cluster.restart(1);
            send(producer, topic, "second");

            // and when one is there that the brokers do not know
            put(ofAnotherAuthority(), used);
            cluster.restart(1);
            assertThatThrownBy(() -> send(producer, topic, "refused")).isNotNull();

            // and when it is replaced by one that they know; after a refusal the stock producer is of no more use
            put(good, used);
            if (kind == ProducerKind.MILLRACE) {
                Await.until("the producer connects", PATIENCE, () -> isSent(producer, topic, "third"));
            }
        }

        // then
        assertThat(read(config, topic))
                .startsWith("first", "second")
                .hasSize(kind == ProducerKind.MILLRACE ? 3 : 2)
                .doesNotContain("refused");
    }

    private static boolean isSent(Producer<byte[], byte[]> producer, String topic, String value) {
        try {
            send(producer, topic, value);
            return true;
        } catch (ExecutionException e) {
            return false;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void send(Producer<byte[], byte[]> producer, String topic, String value) throws Exception {
        producer.send(new ProducerRecord<>(topic, value.getBytes(StandardCharsets.UTF_8)))
                .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    /** By Kafka's consumer, with the same class. */
    private static List<String> read(Map<String, Object> config, String topic) {
        TopicPartition partition = new TopicPartition(topic, 0);
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            List<String> values = new ArrayList<>();
            Await.until("all is read", PATIENCE, () -> {
                consumer.poll(Duration.ofMillis(100))
                        .forEach(record -> values.add(new String(record.value(), StandardCharsets.UTF_8)));
                return consumer.position(partition)
                        >= consumer.endOffsets(List.of(partition)).get(partition);
            });
            return values;
        }
    }

    private Path ofAnotherAuthority() throws IOException {
        return Path.of(
                Certificates.generate(Files.createDirectory(folder.resolve("other")), Set.of(Listener.SSL_MUTUAL))
                        .clientSettings(Listener.SSL_MUTUAL)
                        .get(LOCATION));
    }

    private void put(Path from, Path to) throws IOException {
        Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING);
        age(to);
    }

    /** Each change is a second after the one before, and all are long ago. */
    private void age(Path file) throws IOException {
        changes++;
        Files.setLastModifiedTime(file, FileTime.from(Instant.now().minusSeconds(100 - changes)));
    }
}
