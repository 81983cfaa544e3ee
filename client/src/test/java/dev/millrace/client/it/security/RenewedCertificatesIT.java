package dev.millrace.client.it.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.ReloadingSslEngineFactory;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.RenewedFiles;
import dev.millrace.client.support.Tries;
import dev.millrace.testkit.cluster.Certificates;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.cluster.TopicContents;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import javax.management.JMException;
import javax.management.ObjectName;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A producer whose certificate is replaced while it runs; the stock producer takes the same class from us. */
@Tag("thorough")
class RenewedCertificatesIT {
    private static final String LOCATION = "ssl.keystore.location";

    @AutoClose
    private static final KafkaCluster cluster =
            KafkaCluster.builder().listeners(Listener.SSL_MUTUAL).start();

    @TempDir
    private Path folder;

    private final RenewedFiles files = new RenewedFiles();

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldConnectWithWhatTheFilesHoldAtTheTime(ProducerKind kind) throws Exception {
        // given
        Map<String, Object> config = new HashMap<>(cluster.clientConfig(Listener.SSL_MUTUAL));
        Path good = folder.resolve("good.p12");
        Instant expiry = cluster.certificates().makeClientStore(good, Duration.ofHours(1));
        Path used = folder.resolve("client.p12");
        files.copy(good, used);
        config.put(LOCATION, used.toString());
        config.put("ssl.engine.factory.class", ReloadingSslEngineFactory.class.getName());
        config.put("client.id", "renewed");
        config.put("request.timeout.ms", "10000");
        config.put("delivery.timeout.ms", "30000");
        String topic = "renewed-" + kind;
        cluster.createTopic(topic, 1, 1, Map.of());

        try (Producer<byte[], byte[]> producer = kind.create(config)) {
            send(producer, topic, "first");

            // when a damaged file is in the place of its certificate, and all connections are new
            files.write(used, new byte[] {1, 2, 3});
            cluster.restart(1);
            send(producer, topic, "second");
            if (kind == ProducerKind.MILLRACE) {
                assertThat(expiryInJmx()).isEqualTo(expiry.getEpochSecond());
            }

            // and when one is there that the brokers do not know
            files.copy(ofAnotherAuthority(), used);
            cluster.restart(1);
            assertThatThrownBy(() -> send(producer, topic, "refused")).isNotNull();
            if (kind == ProducerKind.MILLRACE) {
                assertThat(expiryInJmx()).as("of the other one").isGreaterThan(expiry.getEpochSecond());
            }

            // and when it is replaced by one that they know; after a refusal the stock producer is of no more use
            files.copy(good, used);
            if (kind == ProducerKind.MILLRACE) {
                assertThat(expiryInJmx()).isEqualTo(expiry.getEpochSecond());
                Tries.untilAcknowledged(producer, record(topic, "third"));
            }
        }

        // then Kafka's consumer, with the same class, reads what was sent
        assertThat(TopicContents.read(config, topic))
                .extracting(record -> new String(record.value(), StandardCharsets.UTF_8))
                .startsWith("first", "second")
                .hasSize(kind == ProducerKind.MILLRACE ? 3 : 2)
                .doesNotContain("refused");
    }

    private static long expiryInJmx() throws JMException {
        Object seconds = ManagementFactory.getPlatformMBeanServer()
                .getAttribute(
                        new ObjectName("kafka.producer:type=millrace-metrics,client-id=renewed"),
                        "certificate-expiry-timestamp-seconds");
        return ((Number) seconds).longValue();
    }

    private static void send(Producer<byte[], byte[]> producer, String topic, String value) throws Exception {
        producer.send(record(topic, value)).get();
    }

    private static ProducerRecord<byte[], byte[]> record(String topic, String value) {
        return new ProducerRecord<>(topic, value.getBytes(StandardCharsets.UTF_8));
    }

    private Path ofAnotherAuthority() throws IOException {
        return Path.of(
                Certificates.generate(Files.createDirectory(folder.resolve("other")), Set.of(Listener.SSL_MUTUAL))
                        .clientSettings(Listener.SSL_MUTUAL)
                        .get(LOCATION));
    }
}
