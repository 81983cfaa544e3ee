package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.millrace.client.support.KafkaClients;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every key of the stock producer is honoured or refused. A key is honoured if a test of this module sets it and checks
 * its effect, or if only kafka-clients' code reads it, from the configuration that we pass on. In both cases we read it
 * wherever the stock producer does.
 */
class ConfigKeysTest {
    private static final Map<String, String> TESTED = tested();

    /**
     * Keys that the network layer, metrics, codecs and backoff read; a wrong value fails as with the stock producer.
     */
    private static final List<String> HANDED_ON = List.of(
            "client.dns.lookup",
            "compression.gzip.level",
            "compression.lz4.level",
            "compression.zstd.level",
            "connections.max.idle.ms",
            "metadata.max.idle.ms",
            "metrics.num.samples",
            "metrics.recording.level",
            "metrics.sample.window.ms",
            "receive.buffer.bytes",
            "reconnect.backoff.max.ms",
            "retry.backoff.max.ms",
            "retry.backoff.ms",
            "send.buffer.bytes",
            "socket.connection.setup.timeout.max.ms",
            "socket.connection.setup.timeout.ms");

    /** Keys of 4.4, which Millrace reads with every version, and the tests that set them. */
    private static final Map<String, String> TESTED_SINCE_4_4 = Map.of(
            "bootstrap.resolve.timeout.ms", "NewestSettingsProgram",
            "client.rack", "RackAwareIT",
            "metadata.cluster.check.enable", "ClusterCheckIT",
            "partitioner.rack.aware", "RackAwareIT");

    /** Of 4.4 too; memory follows use whatever it says. */
    private static final String WITHOUT_EFFECT = "buffer.memory.allocation.strategy";

    private static final Map<String, Object> REFUSED = Map.of("transaction.two.phase.commit.enable", true);

    private static Map<String, String> tested() {
        Map<String, String> tests = new TreeMap<>();
        hold(tests, "ConstructionTest", "bootstrap.servers", "client.id", "config.providers", "metric.reporters");
        hold(tests, "ConstructionTest", "key.serializer", "value.serializer");
        hold(tests, "InterceptorsIT", "interceptor.classes");
        hold(tests, "TelemetryIT", "enable.metrics.push");
        hold(tests, "RoundTripIT", "acks", "compression.type", "max.in.flight.requests.per.connection");
        hold(tests, "MetricsIT", "batch.size", "buffer.memory", "linger.ms", "max.block.ms", "max.request.size");
        hold(tests, "ExpiryIT", "delivery.timeout.ms", "request.timeout.ms");
        hold(tests, "BatchSplittingIT", "enable.idempotence", "retries");
        hold(tests, "PartitioningIT", "partitioner.class", "partitioner.ignore.keys");
        hold(tests, "PartitioningIT", "partitioner.adaptive.partitioning.enable");
        hold(tests, "PartitioningIT", "partitioner.availability.timeout.ms");
        hold(tests, "RebootstrapIT", "metadata.max.age.ms", "metadata.recovery.strategy");
        hold(tests, "RebootstrapIT", "metadata.recovery.rebootstrap.trigger.ms");
        hold(tests, "SecurityIT", "reconnect.backoff.ms", "ssl.endpoint.identification.algorithm");
        hold(tests, "TransactionsContract", "transactional.id", "transaction.timeout.ms");
        hold(tests, "SecurityIT", "sasl.jaas.config");
        return tests;
    }

    private static void hold(Map<String, String> tests, String test, String... keys) {
        for (String key : keys) {
            tests.put(key, test);
        }
    }

    private static boolean isSecurity(String key) {
        return key.startsWith("ssl.") || key.startsWith("sasl.") || key.startsWith("security.");
    }

    @Test
    void shouldKnowEveryKeyOfTheStockProducerAndNoOther() {
        boolean isNewest = KafkaClients.version().startsWith("4.4.");
        assumeTrue(isNewest || KafkaClients.version().startsWith("4.3."), "the keys of 4.3");
        Set<String> known = new TreeSet<>(TESTED.keySet());
        if (isNewest) {
            known.addAll(TESTED_SINCE_4_4.keySet());
            known.add(WITHOUT_EFFECT);
        }
        known.addAll(HANDED_ON);
        known.addAll(REFUSED.keySet());
        ProducerConfig.configNames().stream().filter(ConfigKeysTest::isSecurity).forEach(known::add);

        assertThat(known).containsExactlyInAnyOrderElementsOf(ProducerConfig.configNames());
    }

    @Test
    void shouldNameTestsThatSetTheKey() {
        Map<String, String> tests = new TreeMap<>(TESTED);
        tests.putAll(TESTED_SINCE_4_4);
        tests.forEach((key, test) -> assertThat(constantsOf(test))
                .as("%s, which is to test %s", test, key)
                .contains(key));
    }

    @Test
    void shouldRefuseWhatItCannotDo() {
        KafkaClients.assume(ProducerConfig.configNames().containsAll(REFUSED.keySet()), "key that is refused");
        REFUSED.forEach((key, value) -> assertThatThrownBy(() -> ours(with(allDefaults(), Map.of(key, value))))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining(key));
    }

    static Stream<Map<String, Object>> circumstances() {
        return Stream.of(
                Map.of(),
                Map.of("compression.type", "gzip"),
                Map.of("compression.type", "lz4"),
                Map.of("compression.type", "zstd"),
                Map.of("acks", "1", "enable.idempotence", "false"),
                Map.of("transactional.id", "t"),
                Map.of("security.protocol", "SSL"),
                Map.of("security.protocol", "SASL_SSL", "sasl.mechanism", "PLAIN", "sasl.jaas.config", jaas()));
    }

    /** No key that the stock producer reads is silently ignored. */
    @ParameterizedTest
    @MethodSource("circumstances")
    void shouldReadEveryKeyThatTheStockProducerReads(Map<String, Object> circumstance) throws Exception {
        Map<String, Object> configs = with(allDefaults(), circumstance);

        Set<String> unused;
        Set<String> unusedByStock;
        try (Producer<?, ?> ours = ours(configs)) {
            unused = unusedBy(ours);
        }
        try (Producer<?, ?> stock = new KafkaProducer<>(configs)) {
            unusedByStock = unusedBy(stock);
        }

        unused.removeAll(unusedByStock);
        assertThat(unused).isEmpty();
    }

    private static Producer<?, ?> ours(Map<String, Object> configs) {
        return new MillraceProducer<>(configs);
    }

    private static String jaas() {
        return "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\" password=\"p\";";
    }

    /** Every key that has a default, set to it. */
    private static Map<String, Object> allDefaults() {
        Map<String, Object> configs = new HashMap<>();
        for (ConfigDef.ConfigKey key : ProducerConfig.configDef().configKeys().values()) {
            if (key.hasDefault() && key.defaultValue != null) {
                configs.put(key.name, key.defaultValue);
            }
        }
        configs.put("bootstrap.servers", "localhost:1");
        configs.put("key.serializer", ByteArraySerializer.class);
        configs.put("value.serializer", ByteArraySerializer.class);
        return configs;
    }

    private static Map<String, Object> with(Map<String, Object> configs, Map<String, Object> more) {
        Map<String, Object> all = new HashMap<>(configs);
        all.putAll(more);
        return all;
    }

    /** What {@code logUnused} warns of. */
    private static Set<String> unusedBy(Producer<?, ?> producer) throws IllegalAccessException {
        Field config = Arrays.stream(producer.getClass().getDeclaredFields())
                .filter(field -> field.getType() == ProducerConfig.class)
                .findFirst()
                .orElseThrow();
        config.setAccessible(true);
        return new TreeSet<>(((ProducerConfig) config.get(producer)).unused());
    }

    /** The text of the class files of the test with this simple name: they contain its string constants as they are. */
    private static String constantsOf(String test) {
        Pattern name = Pattern.compile(test + "(\\$.*)?\\.class");
        try (Stream<Path> files = Files.walk(testClasses())) {
            return files.filter(
                            file -> name.matcher(file.getFileName().toString()).matches())
                    .map(ConfigKeysTest::textOf)
                    .collect(Collectors.joining());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path testClasses() {
        try {
            return Path.of(ConfigKeysTest.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String textOf(Path classFile) {
        try {
            return Files.readString(classFile, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
