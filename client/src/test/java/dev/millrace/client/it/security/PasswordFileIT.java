package dev.millrace.client.it.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.PasswordFileCallbackHandler;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.cluster.SaslMechanism;
import dev.millrace.testkit.cluster.TopicContents;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A producer whose password is changed while it runs; the stock producer takes the same class from us. */
@Tag("thorough")
class PasswordFileIT {
    private static final String PASSWORD = "first-password";
    private static final String CHANGED = "second-password";
    private static final int ITERATIONS = 4_096;

    @AutoClose
    private static final KafkaCluster cluster = KafkaCluster.builder()
            .listeners(Listener.SASL_PLAINTEXT)
            .users(ProducerKind.MILLRACE.name(), ProducerKind.STOCK.name())
            .password(PASSWORD)
            .start();

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldConnectWithThePasswordThatTheFileHasAtTheTime(ProducerKind kind) throws Exception {
        // given
        String topic = "password-" + kind;
        cluster.createTopic(topic, 1, 1, Map.of());
        Path file = Files.writeString(folder.resolve("password"), PASSWORD + "\n");

        try (Producer<byte[], byte[]> producer = kind.create(config(kind.name(), SaslMechanism.SCRAM_SHA_512, file))) {
            producer.send(record(topic, "before")).get();

            // when the password is changed, and all connections are new
            ScramCredentialInfo info = new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, ITERATIONS);
            cluster.admin()
                    .alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(kind.name(), info, CHANGED)))
                    .all()
                    .get();
            Files.writeString(file, CHANGED);
            cluster.restart(1);
            producer.send(record(topic, "after")).get();
        }

        // then Kafka's consumer, with the same class, reads what was sent
        assertThat(TopicContents.read(config(kind.name(), SaslMechanism.SCRAM_SHA_512, file), topic))
                .extracting(record -> new String(record.value(), StandardCharsets.UTF_8))
                .containsExactly("before", "after");
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldConnectWithAPlainPassword(ProducerKind kind) throws Exception {
        String topic = "plain-" + kind;
        cluster.createTopic(topic, 1, 1, Map.of());
        Path file = Files.writeString(folder.resolve("password"), PASSWORD);

        try (Producer<byte[], byte[]> producer = kind.create(config(kind.name(), SaslMechanism.PLAIN, file))) {
            assertThat(producer.send(record(topic, "sent")).get().hasOffset()).isTrue();
        }
    }

    @Test
    void shouldSayWhichOptionIsMissing() throws IOException {
        Map<String, Object> config = config("any", SaslMechanism.PLAIN, folder.resolve("password"));
        config.put("sasl.jaas.config", SaslMechanism.PLAIN.clientJaas("any", PASSWORD));

        assertThatThrownBy(() -> ProducerKind.MILLRACE.create(config))
                .hasStackTraceContaining("sasl.jaas.config lacks passwordFile=");
    }

    private static Map<String, Object> config(String user, SaslMechanism mechanism, Path file) {
        Map<String, Object> config = cluster.clientConfig(Listener.SASL_PLAINTEXT, mechanism, user);
        String jaas = config.get("sasl.jaas.config").toString();
        config.put("sasl.jaas.config", jaas.replace("password=\"" + PASSWORD + "\"", "passwordFile=\"" + file + "\""));
        config.put("sasl.client.callback.handler.class", PasswordFileCallbackHandler.class.getName());
        return config;
    }

    private static ProducerRecord<byte[], byte[]> record(String topic, String value) {
        return new ProducerRecord<>(topic, value.getBytes(StandardCharsets.UTF_8));
    }
}
