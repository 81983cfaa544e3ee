package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.sun.net.httpserver.HttpServer;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.SecretOracle;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigData;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.provider.ConfigProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every secret of a configuration is in no log, whatever its level, in no exception, metric, bean or name of a thread.
 * {@code SecurityIT} shows the same with brokers.
 */
class SecretsTest {
    private static final String SECRET = "Xq7-open-sesame";
    private static final Map<String, Object> CLIENT =
            Map.of("bootstrap.servers", "127.0.0.1:9", "client.id", "discreet");
    private static final String MODULES = "org.apache.kafka.common.security.";
    private static final String ALLOWED_URLS = "org.apache.kafka.sasl.oauthbearer.allowed.urls";

    /** All keys whose values are secrets, also those of versions that are yet to come. */
    static List<String> keys() {
        return ProducerConfig.configDef().configKeys().values().stream()
                .filter(key -> key.type == ConfigDef.Type.PASSWORD)
                .map(key -> key.name)
                .toList();
    }

    @Test
    void shouldHideTheSecretOfEveryKey() throws Exception {
        // given
        Map<String, Object> configs = new HashMap<>(CLIENT);
        keys().forEach(key -> configs.put(key, secretOf(key)));
        configs.put("sasl.jaas.config", "${vault:path:jaas}");
        configs.put("config.providers", "vault");
        configs.put("config.providers.vault.class", Vault.class.getName());
        configs.put("config.providers.vault.param.token", secretOf("vault"));
        configs.put("ssl.keystore.pasword", secretOf("a misspelt key"));

        try (SecretOracle oracle = new SecretOracle()) {
            // when
            try (Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(configs)) {
                oracle.onOpen(producer);
            }

            // then
            List<String> messages = oracle.messages();
            assertThat(keys())
                    .hasSizeGreaterThan(6)
                    .allSatisfy(key ->
                            assertThat(messages).anyMatch(message -> message.contains("\t" + key + " = [hidden]")));
            oracle.assertNowhere(SECRET);
        }
    }

    @ParameterizedTest
    @MethodSource("keys")
    void shouldHideASecretThatMakesNoSense(String key) {
        for (String protocol : List.of("SSL", "SASL_SSL")) {
            for (String type : List.of("PKCS12", "PEM")) {
                assertHiddenIn(
                        "security.protocol",
                        protocol,
                        "ssl.keystore.type",
                        type,
                        "ssl.truststore.type",
                        type,
                        "sasl.mechanism",
                        "PLAIN",
                        "sasl.jaas.config",
                        MODULES + "plain.PlainLoginModule required username=\"me\" password=\"" + SECRET + "\";",
                        key,
                        secretOf(key));
            }
        }
    }

    static Stream<String> wrongLogins() {
        return Stream.of(
                "plain.PlainLoginModule required username=\"me\" password=\"" + SECRET + "\"",
                "plain.PlainLoginModule required username=\"me\" password=\"" + SECRET + ";",
                "plain.PlainLoginModule required username=\"me\" password " + SECRET + ";",
                "plain.PlainLoginModule required username=\"me\" password=;" + SECRET + ";",
                "plain.PlainLoginModule username=\"me\" password=\"" + SECRET + "\";",
                "plain.PlainLoginModule required password=\"" + SECRET + "\";",
                "plain.NoSuchLoginModule required username=\"me\" password=\"" + SECRET + "\";",
                "scram.ScramLoginModule required username=\"me\" password=\"" + SECRET + "\" tokenauth=\"maybe\";",
                "oauthbearer.OAuthBearerLoginModule required clientSecret=\"" + SECRET + "\";");
    }

    @ParameterizedTest
    @MethodSource("wrongLogins")
    void shouldHideThePasswordOfALoginThatIsWritten(String wrong) {
        for (String mechanism : List.of("PLAIN", "SCRAM-SHA-512", "OAUTHBEARER")) {
            assertHiddenIn(
                    "security.protocol",
                    "SASL_PLAINTEXT",
                    "sasl.mechanism",
                    mechanism,
                    "sasl.jaas.config",
                    MODULES + wrong);
        }
    }

    /** It goes to the server in Base64. */
    @Test
    void shouldHideTheClientSecretThatATokenServerRefuses() throws Exception {
        // given
        Queue<String> received = new ConcurrentLinkedQueue<>();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            received.add(exchange.getRequestHeaders().getFirst("Authorization"));
            exchange.sendResponseHeaders(401, -1);
            exchange.close();
        });
        server.start();
        String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/token";
        System.setProperty(ALLOWED_URLS, url);

        // when
        try {
            assertHiddenIn(
                    "security.protocol",
                    "SASL_PLAINTEXT",
                    "sasl.mechanism",
                    "OAUTHBEARER",
                    "sasl.oauthbearer.token.endpoint.url",
                    url,
                    "sasl.login.callback.handler.class",
                    MODULES + "oauthbearer.OAuthBearerLoginCallbackHandler",
                    "sasl.jaas.config",
                    MODULES + "oauthbearer.OAuthBearerLoginModule required clientId=\"me\" clientSecret=\"" + SECRET
                            + "\";");
        } finally {
            System.clearProperty(ALLOWED_URLS);
            server.stop(0);
        }

        // then
        assertThat(received)
                .contains("Basic "
                        + Base64.getEncoder().encodeToString(("me:" + SECRET).getBytes(StandardCharsets.UTF_8)));
    }

    /** Whether a producer can be made of these settings or not. */
    private static void assertHiddenIn(Object... configs) {
        try (SecretOracle oracle = new SecretOracle()) {
            Throwable thrown = catchThrowable(() -> {
                try (Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(CLIENT, configs)) {
                    oracle.onOpen(producer);
                }
            });
            if (thrown != null) {
                assertThat(thrown).isInstanceOf(KafkaException.class);
                oracle.onThrown(thrown);
            }
            oracle.assertNowhere(SECRET);
        }
    }

    private static String secretOf(String key) {
        return SECRET + "-of-" + key;
    }

    /** Where a login is kept. */
    public static final class Vault implements ConfigProvider {
        @Override
        public ConfigData get(String path) {
            return get(path, Set.of());
        }

        @Override
        public ConfigData get(String path, Set<String> keys) {
            return new ConfigData(Map.of(
                    "jaas", MODULES + "plain.PlainLoginModule required username=\"me\" password=\"" + SECRET + "\";"));
        }

        @Override
        public void configure(Map<String, ?> configs) {
            assertThat(configs.get("token")).isEqualTo(secretOf("vault"));
        }

        @Override
        public void close() throws IOException {}
    }
}
