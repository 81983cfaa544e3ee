package dev.millrace.client.it.security;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.support.ProducerKind;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.cluster.SaslMechanism;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.RSAPublicKey;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
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
    private static final String ALLOWED_URLS = "org.apache.kafka.sasl.oauthbearer.allowed.urls";
    private static final String OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearer";
    private static final String TOPIC = "orders";
    private static final Duration VALID = Duration.ofSeconds(15);
    private static final int RECORDS_A_ROUND = 100;

    @TempDir
    private static Path folder;

    private static KeyPair keys;

    @AutoClose
    private static KafkaCluster cluster;

    private Instant lastExpiry;

    @BeforeAll
    static void start() throws Exception {
        keys = KeyPairGenerator.getInstance("RSA").generateKeyPair();
        cluster = KafkaCluster.builder()
                .listeners(Listener.SASL_PLAINTEXT)
                .setting(
                        "sasl.oauthbearer.jwks.endpoint.url",
                        publicKeys().toUri().toString())
                .setting("sasl.oauthbearer.clock.skew.seconds", "0")
                .setting(
                        "listener.name.sasl_plaintext.oauthbearer.sasl.server.callback.handler.class",
                        OAUTH + "ValidatorCallbackHandler")
                // Without it a connection outlives its token.
                .setting("connections.max.reauth.ms", Long.toString(VALID.toMillis()))
                .start();
        cluster.createTopic(TOPIC, 1, 1, Map.of());
        System.setProperty(ALLOWED_URLS, tokenFile().toUri().toString());
    }

    @AfterAll
    static void allowNothing() {
        System.clearProperty(ALLOWED_URLS);
    }

    @Test
    void shouldGoOnWithTheTokensThatReplaceTheFirst() throws Exception {
        // given
        replaceToken();
        Instant firstExpiry = lastExpiry;
        Queue<Exception> failures = new ConcurrentLinkedQueue<>();
        long[] sent = {0};

        try (Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(
                cluster.clientConfig(Listener.SASL_PLAINTEXT, SaslMechanism.OAUTHBEARER),
                "sasl.jaas.config",
                OAUTH + "LoginModule required;",
                "sasl.login.callback.handler.class",
                OAUTH + "LoginCallbackHandler",
                "sasl.oauthbearer.token.endpoint.url",
                tokenFile().toUri().toString(),
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
            replaceToken();
        }
    }

    private void replaceToken() {
        Instant now = Instant.now();
        lastExpiry = now.plus(VALID);
        String claims = "{\"sub\":\"millrace\",\"scope\":\"all\",\"iat\":" + now.getEpochSecond() + ",\"exp\":"
                + lastExpiry.getEpochSecond() + "}";
        try {
            String signed = base64("{\"alg\":\"RS256\"}") + "." + base64(claims);
            Signature signature = Signature.getInstance("SHA256withRSA");
            signature.initSign(keys.getPrivate());
            signature.update(signed.getBytes(StandardCharsets.US_ASCII));
            Path made = Files.writeString(folder.resolve("made"), signed + "." + base64(signature.sign()));
            Files.move(made, tokenFile(), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException("Cannot make a token", e);
        }
    }

    private static Path tokenFile() {
        return folder.resolve("token");
    }

    /** Writes the key that signs tokens in the form in which brokers read it, and returns the file. */
    private static Path publicKeys() throws IOException {
        RSAPublicKey key = (RSAPublicKey) keys.getPublic();
        String number = base64(key.getModulus().toByteArray());
        String exponent = base64(key.getPublicExponent().toByteArray());
        return Files.writeString(
                folder.resolve("keys.json"),
                "{\"keys\":[{\"kty\":\"RSA\",\"alg\":\"RS256\",\"n\":\"" + number + "\",\"e\":\"" + exponent + "\"}]}");
    }

    private static String base64(String text) {
        return base64(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String base64(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
