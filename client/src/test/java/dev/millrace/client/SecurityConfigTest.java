package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.millrace.client.support.ProducerKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The constructor reports wrong TLS and SASL settings as the stock producer does. */
class SecurityConfigTest {
    private static final Map<String, Object> CLIENT = Map.of("bootstrap.servers", "127.0.0.1:9");
    private static final String SECRET = "a-secret-word";

    @TempDir
    private static Path folder;

    @BeforeAll
    static void makeFiles() throws IOException {
        Files.writeString(folder.resolve("no-store"), "this is no key store");
    }

    /** What the message must mention, by the settings that are wrong. */
    static Stream<Arguments> mistakes() {
        String noStore = folder.resolve("no-store").toString();
        String missing = folder.resolve("missing").toString();
        return Stream.of(
                mistake("security.protocol", "security.protocol", "TLS"),
                ssl("trust store is not specified", "ssl.truststore.password", SECRET),
                ssl("key store is not specified", "ssl.keystore.password", SECRET),
                ssl("key store password is not specified", "ssl.keystore.location", noStore),
                ssl(missing, "ssl.truststore.location", missing),
                ssl(noStore, "ssl.truststore.location", noStore),
                ssl(missing, "ssl.keystore.location", missing, "ssl.keystore.password", SECRET),
                ssl("no-such-type", "ssl.truststore.location", noStore, "ssl.truststore.type", "no-such-type"),
                ssl("no-such-protocol", "ssl.protocol", "no-such-protocol"),
                ssl("no-such-factory", "ssl.trustmanager.algorithm", "no-such-factory"),
                ssl("PEM", "ssl.truststore.type", "PEM", "ssl.truststore.certificates", SECRET),
                sasl("JAAS"),
                sasl("sasl.mechanism", "sasl.mechanism", ""),
                sasl("JAAS", "sasl.mechanism", "PLAIN", "sasl.jaas.config", "NoFlag password=\"" + SECRET + "\";"),
                sasl(
                        "no.such.Module",
                        "sasl.mechanism",
                        "PLAIN",
                        "sasl.jaas.config",
                        "no.such.Module required password=\"" + SECRET + "\";"),
                sasl("sasl.login.callback.handler.class", "sasl.login.callback.handler.class", "no.such.Handler"));
    }

    private static Arguments ssl(String mentioned, Object... configs) {
        return mistake(mentioned, with("security.protocol", "SSL", configs));
    }

    private static Arguments sasl(String mentioned, Object... configs) {
        return mistake(mentioned, with("security.protocol", "SASL_SSL", configs));
    }

    private static Object[] with(Object key, Object value, Object... configs) {
        return Stream.concat(Stream.of(key, value), Stream.of(configs)).toArray();
    }

    private static Arguments mistake(String mentioned, Object... configs) {
        return Arguments.of(mentioned, ProducerKind.with(CLIENT, configs));
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void shouldGiveTheStockProducersReasonsAndNoSecretWhen(String mentioned, Map<String, Object> configs) {
        Throwable stock =
                catchThrowable(() -> ProducerKind.STOCK.create(configs).close());
        Throwable ours =
                catchThrowable(() -> ProducerKind.MILLRACE.create(configs).close());

        assertThat(ours).isInstanceOf(KafkaException.class).hasSameClassAs(stock);
        assertThat(reasons(ours.getCause())).isEqualTo(reasons(stock.getCause()));
        assertThat(reasons(ours))
                .anyMatch(reason -> reason.contains(mentioned))
                .noneMatch(reason -> reason.contains(SECRET));
    }

    private static List<String> reasons(Throwable thrown) {
        return Stream.iterate(thrown, t -> t != null, Throwable::getCause)
                .map(t -> t.getClass().getName() + ": " + t.getMessage())
                .toList();
    }
}
