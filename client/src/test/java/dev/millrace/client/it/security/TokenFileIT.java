package dev.millrace.client.it.security;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.support.ProducerKind;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.cluster.SignedTokens;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A producer that logs in with a token from a file, by Kafka's own classes, and sends while the file is replaced. */
@Tag("thorough")
@Tag("long")
class TokenFileIT {
    private static final String TOPIC = "orders";
    private static final Duration VALID = Duration.ofSeconds(15);
    private static final int RECORDS_A_ROUND = 100;

    @TempDir
    private static Path folder;

    private static SignedTokens tokens;

    @AutoClose
    private static KafkaCluster cluster;

    private Instant lastExpiry;

    @BeforeAll
    static void start() {
        tokens = new SignedTokens(folder);
        KafkaCluster.Builder builder = KafkaCluster.builder()
                .listeners(Listener.SASL_PLAINTEXT)
                // Without it a connection outlives its token.
                .setting("connections.max.reauth.ms", Long.toString(VALID.toMillis()));
        tokens.brokerSettings(Listener.SASL_PLAINTEXT).forEach(builder::setting);
        cluster = builder.start();
        cluster.createTopic(TOPIC, 1, 1, Map.of());
        System.setProperty(SignedTokens.ALLOWED_URLS, tokens.url());
    }

    @AfterAll
    static void allowNothing() {
        System.clearProperty(SignedTokens.ALLOWED_URLS);
    }

    @Test
    void shouldGoOnWithTheTokensThatReplaceTheFirst() throws Exception {
        // given
        lastExpiry = tokens.replace(VALID);
        Instant firstExpiry = lastExpiry;
        Queue<Exception> failures = new ConcurrentLinkedQueue<>();
        long[] sent = {0};
        Map<String, Object> config = new HashMap<>(cluster.clientConfig(Listener.SASL_PLAINTEXT));
        config.putAll(tokens.clientSettings());

        try (Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(
                config,
                "sasl.login.refresh.window.factor",
                0.5,
                "sasl.login.refresh.window.jitter",
                0.0,
                "sasl.login.refresh.min.period.seconds",
                (short) 0,
                "sasl.login.refresh.buffer.seconds",
                (short) 0)) {

            // when it sends until the first token has expired, and each token is replaced when it is a second old
            Await.until("the first token has expired", Duration.ofSeconds(60), () -> {
                replaceTokenIfOld();
                for (int i = 0; i < RECORDS_A_ROUND; i++) {
                    producer.send(new ProducerRecord<>(TOPIC, new byte[100]), (metadata, failure) -> {
                        if (failure != null) {
                            failures.add(failure);
                        }
                    });
                    sent[0]++;
                }
                producer.flush();
                return Instant.now().isAfter(firstExpiry.plusSeconds(1)) && reauthentications(producer) > 0;
            });
        }

        // then
        assertThat(failures).isEmpty();
        TopicPartition partition = new TopicPartition(TOPIC, 0);
        assertThat(cluster.admin()
                        .listOffsets(Map.of(partition, OffsetSpec.latest()))
                        .partitionResult(partition)
                        .get()
                        .offset())
                .isEqualTo(sent[0]);
    }

    private static double reauthentications(Producer<?, ?> producer) {
        return producer.metrics().values().stream()
                .filter(metric -> metric.metricName().name().equals("successful-reauthentication-total"))
                .mapToDouble(metric -> (double) metric.metricValue())
                .sum();
    }

    private void replaceTokenIfOld() {
        if (Instant.now().isAfter(lastExpiry.minus(VALID).plusSeconds(1))) {
            lastExpiry = tokens.replace(VALID);
        }
    }
}
