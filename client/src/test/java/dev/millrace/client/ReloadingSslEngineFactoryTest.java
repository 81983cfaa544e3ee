package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.millrace.client.support.LogLines;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.RenewedFiles;
import dev.millrace.testkit.cluster.Certificates;
import dev.millrace.testkit.cluster.Listener;
import io.micrometer.core.instrument.binder.kafka.KafkaClientMetrics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which certificates a client has after its files have changed. */
class ReloadingSslEngineFactoryTest {
    private static final char[] PASSWORD = "store-secret".toCharArray();

    /** Two sets of certificates that differ in all. */
    private static Map<String, String> first;

    private static Map<String, String> second;

    /** Makes more certificates for the first set. */
    private static Certificates ofFirst;

    @TempDir
    private static Path made;

    @TempDir
    private Path used;

    private final LogLines log = new LogLines(ReloadingSslEngineFactory.class.getName(), Level.INFO);
    private Instant now = Instant.now();
    private final RenewedFiles files = new RenewedFiles();
    private final ReloadingSslEngineFactory factory = new ReloadingSslEngineFactory(() -> now);

    @BeforeAll
    static void makeCertificates() throws Exception {
        ofFirst = make("first");
        first = ofFirst.clientSettings(Listener.SSL_MUTUAL);
        second = make("second").clientSettings(Listener.SSL_MUTUAL);
    }

    private static Certificates make(String name) throws IOException {
        return Certificates.generate(Files.createDirectory(made.resolve(name)), Set.of(Listener.SSL_MUTUAL));
    }

    @BeforeEach
    void putFirst() throws Exception {
        put(first, "ssl.keystore.location");
        put(first, "ssl.truststore.location");
    }

    @AfterEach
    void stopReadingTheLog() {
        log.close();
    }

    @Test
    void shouldTakeRenewedFilesAtTheNextConnection() throws Exception {
        factory.configure(parsed(settings(first)));
        assertHas(first, first);
        connect();
        assertHas(first, first);

        put(second, "ssl.keystore.location");
        connect();
        assertHas(second, first);
        put(second, "ssl.truststore.location");
        connect();
        assertHas(second, second);

        assertThat(log.with("")).hasSize(2).allMatch(line -> line.startsWith("INFO Took the certificates"));
        X509Certificate authority = (X509Certificate) authority(second);
        assertThat(factory.expiry())
                .as("the authority's certificate was made first, and is valid as long")
                .contains(authority.getNotAfter().toInstant());
    }

    @Test
    void shouldTakeRenewedPemFiles() throws Exception {
        Map<String, Object> settings = settings(first);
        Path pem = used.resolve("own.pem");
        settings.put("ssl.keystore.type", "PEM");
        settings.put("ssl.keystore.location", pem.toString());
        settings.remove("ssl.keystore.password");
        settings.remove("ssl.key.password");
        putPem(first, pem);
        factory.configure(parsed(settings));
        assertHas(first, first);

        putPem(second, pem);
        connect();

        assertHas(second, first);
    }

    @Test
    void shouldKeepTheFormerOnesAndWarnOnceIfAFileIsDamaged() throws Exception {
        factory.configure(parsed(settings(first)));
        Path file = used.resolve(fileName(first, "ssl.keystore.location"));
        byte[] all = Files.readAllBytes(file);

        files.write(file, Arrays.copyOf(all, all.length / 2));
        connect();
        connect();

        assertHas(first, first);
        assertThat(log.with("")).hasSize(1);
        assertThat(log.with("Cannot read the certificates").get(0))
                .startsWith("WARN")
                .contains(file.toString(), "the former ones stay in use; they expire at ");

        put(second, "ssl.keystore.location");
        connect();
        assertHas(second, first);
    }

    @Test
    void shouldKeepTheFormerOnesIfAFileIsGone() throws Exception {
        factory.configure(parsed(settings(first)));

        Files.delete(used.resolve(fileName(first, "ssl.truststore.location")));
        connect();
        connect();

        assertHas(first, first);
        assertThat(log.with("Cannot read the certificates")).hasSize(1);
    }

    /** Its owner may have been changed later, or the machine was short of file descriptors. */
    @Test
    void shouldTryAgainLaterWhatCouldNotBeReadThoughTheFileIsTheSame() throws Exception {
        factory.configure(parsed(settings(first)));
        put(second, "ssl.keystore.location");
        Path file = used.resolve(fileName(second, "ssl.keystore.location"));
        byte[] renewed = Files.readAllBytes(file);
        FileTime changed = Files.getLastModifiedTime(file);

        Files.write(file, new byte[renewed.length]);
        Files.setLastModifiedTime(file, changed);
        connect();
        Files.write(file, renewed);
        Files.setLastModifiedTime(file, changed);
        connect();
        assertHas(first, first);
        now = now.plusSeconds(31);
        connect();

        assertHas(second, first);
        assertThat(log.with("Cannot read the certificates")).hasSize(1);
    }

    @Test
    void shouldNotTakeAFileThatMayStillBeWritten() throws Exception {
        factory.configure(parsed(settings(first)));
        put(second, "ssl.keystore.location");
        Files.setLastModifiedTime(used.resolve(fileName(second, "ssl.keystore.location")), FileTime.from(now));

        connect();
        assertHas(first, first);
        now = now.plusSeconds(2);
        connect();

        assertHas(second, first);
        assertThat(log.with("")).hasSize(1);
    }

    @Test
    void shouldFailAtTheStartAsKafkasOwnFactoryDoes() throws Exception {
        Files.write(used.resolve(fileName(first, "ssl.keystore.location")), new byte[] {1, 2, 3});

        assertThatThrownBy(() -> factory.configure(parsed(settings(first)))).isInstanceOf(KafkaException.class);
    }

    @Test
    void shouldServeAClientWithoutFiles() {
        factory.configure(parsed(new HashMap<>()));

        connect();

        assertThat(factory.keystore()).isNull();
        assertThat(factory.truststore()).isNull();
        assertThat(factory.expiry()).isEmpty();
    }

    @Test
    void shouldTellInTheProducersMetricsWhenItsCertificateExpires() throws Exception {
        Path file = used.resolve(fileName(first, "ssl.keystore.location"));
        Path renewed = used.resolve("renewed.p12");
        Instant expiry = ofFirst.makeClientStore(renewed, Duration.ofHours(1));
        files.copy(renewed, file);

        try (Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(
                client(settings(first)), "ssl.engine.factory.class", ReloadingSslEngineFactory.class)) {
            assertThat(expiryMetrics(producer)).containsExactly((double) expiry.getEpochSecond());

            Instant next = ofFirst.makeClientStore(renewed, Duration.ofHours(2));
            files.write(file, new byte[] {1, 2, 3});
            assertThat(expiryMetrics(producer)).as("damaged").containsExactly((double) expiry.getEpochSecond());

            files.copy(renewed, file);
            assertThat(expiryMetrics(producer)).as("renewed").containsExactly((double) next.getEpochSecond());
            assertThat(expiryInMicrometer(producer)).isEqualTo((double) next.getEpochSecond());
        }
    }

    @Test
    void shouldHaveNoMetricWithoutACertificateThatItKnows() {
        Map<String, Object> withoutOwn = client(settings(first));
        withoutOwn.keySet().removeIf(key -> key.startsWith("ssl.key"));
        Class<?> ours = ReloadingSslEngineFactory.class;

        for (Producer<?, ?> made : List.of(
                ProducerKind.MILLRACE.create(client(settings(first))), // with Kafka's own factory
                ProducerKind.MILLRACE.create(withoutOwn, "ssl.engine.factory.class", ours),
                ProducerKind.MILLRACE.create(
                        client(settings(first)), "ssl.engine.factory.class", ours, "security.protocol", "PLAINTEXT"))) {
            try (made) {
                assertThat(expiryMetrics(made)).isEmpty();
            }
        }
    }

    private static List<Object> expiryMetrics(Producer<?, ?> producer) {
        return producer.metrics().values().stream()
                .filter(metric -> metric.metricName().name().equals("certificate-expiry-timestamp-seconds"))
                .map(Metric::metricValue)
                .collect(Collectors.toList());
    }

    private static double expiryInMicrometer(Producer<?, ?> producer) {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (KafkaClientMetrics meters = new KafkaClientMetrics(producer)) {
            meters.bindTo(registry);
            return registry.get("kafka.millrace.certificate.expiry.timestamp.seconds")
                    .gauge()
                    .value();
        }
    }

    private void connect() {
        assertThat(factory.createClientSslEngine("localhost", 9093, "https").getUseClientMode())
                .isTrue();
    }

    private void assertHas(Map<String, String> own, Map<String, String> trusted) throws Exception {
        KeyStore ownStore = factory.keystore();
        assertThat(ownStore.getCertificate(ownStore.aliases().nextElement())).isEqualTo(ownCertificate(own));
        KeyStore trustStore = factory.truststore();
        assertThat(trustStore.getCertificate("authority")).isEqualTo(authority(trusted));
    }

    private static Certificate authority(Map<String, String> set) throws Exception {
        return store(set, "ssl.truststore.location").getCertificate("authority");
    }

    private static Certificate ownCertificate(Map<String, String> set) throws Exception {
        KeyStore store = store(set, "ssl.keystore.location");
        return store.getCertificate(store.aliases().nextElement());
    }

    private static KeyStore store(Map<String, String> set, String location) throws Exception {
        return KeyStore.getInstance(Path.of(set.get(location)).toFile(), PASSWORD);
    }

    /** Puts a file of the set where the client reads it. */
    private void put(Map<String, String> set, String location) throws IOException {
        files.copy(Path.of(set.get(location)), used.resolve(fileName(set, location)));
    }

    private void putPem(Map<String, String> set, Path file) throws Exception {
        KeyStore store = store(set, "ssl.keystore.location");
        String alias = store.aliases().nextElement();
        Key key = store.getKey(alias, PASSWORD);
        StringBuilder pem = new StringBuilder(pem("PRIVATE KEY", key.getEncoded()));
        for (Certificate certificate : store.getCertificateChain(alias)) {
            pem.append(pem("CERTIFICATE", certificate.getEncoded()));
        }
        files.write(file, pem.toString().getBytes(StandardCharsets.US_ASCII));
    }

    private static String pem(String type, byte[] encoded) {
        return "-----BEGIN " + type + "-----\n"
                + Base64.getMimeEncoder().encodeToString(encoded)
                + "\n-----END " + type + "-----\n";
    }

    private static String fileName(Map<String, String> set, String location) {
        return Path.of(set.get(location)).getFileName().toString();
    }

    /** Returns the settings of a client that has these files where it uses them. */
    private Map<String, Object> settings(Map<String, String> set) {
        Map<String, Object> settings = new HashMap<>(set);
        for (String location : new String[] {"ssl.keystore.location", "ssl.truststore.location"}) {
            settings.put(location, used.resolve(fileName(set, location)).toString());
        }
        return settings;
    }

    private static Map<String, Object> client(Map<String, Object> settings) {
        Map<String, Object> config = new HashMap<>(settings);
        config.put("bootstrap.servers", "localhost:9093");
        config.put("security.protocol", "SSL");
        return config;
    }

    /** Returns the settings as a client gives them to the factory. */
    private static Map<String, Object> parsed(Map<String, Object> settings) {
        Map<String, Object> config = client(settings);
        config.put("key.serializer", ByteArraySerializer.class);
        config.put("value.serializer", ByteArraySerializer.class);
        return new HashMap<>(new ProducerConfig(config).values());
    }
}
