package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.io.BrokerLink;
import dev.millrace.client.support.KafkaClients;
import dev.millrace.client.support.ProducerKind;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RoundRobinPartitioner;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.config.ConfigData;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.provider.ConfigProvider;
import org.apache.kafka.common.metrics.Gauge;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsContext;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.apache.kafka.common.metrics.Monitorable;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serializer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Construction, failed construction and {@code close} call the application's objects as the stock producer does. */
class ConstructionTest {
    private static final List<String> EVENTS = new CopyOnWriteArrayList<>();

    @BeforeEach
    void forget() {
        EVENTS.clear();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldConfigureAndCloseWhatTheApplicationPlugsIn(ProducerKind kind) {
        Producer<Object, Object> producer = create(
                kind,
                "client.id",
                "me",
                "metric.reporters",
                NotingReporter.class.getName(),
                "metrics.context.team",
                "mill");

        producer.close();

        assertThat(EVENTS.subList(0, 5))
                .containsExactly(
                        "reporter configured for me",
                        "reporter in {_namespace=kafka.producer, team=mill}",
                        "reporter started",
                        "key serializer configured for me",
                        "value serializer configured for me");
        assertThat(EVENTS.subList(5, EVENTS.size()))
                .containsExactlyInAnyOrder("reporter closed", "key serializer closed", "value serializer closed");
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldNameTheClientByItself(ProducerKind kind) {
        try (Producer<Object, Object> producer = create(kind)) {
            assertThat(producer.metrics().keySet())
                    .allMatch(name -> name.tags().get("client-id").matches("producer-[0-9]+"));
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldCloseWhatIsThereWhenALaterPartCannotBeMade(ProducerKind kind) throws Exception {
        assertThatThrownBy(() -> create(
                        kind,
                        "value.serializer",
                        FailingSerializer.class,
                        "metric.reporters",
                        List.of(NotingReporter.class.getName(), "org.apache.kafka.common.metrics.JmxReporter")))
                .isExactlyInstanceOf(KafkaException.class)
                .hasMessage("Failed to construct kafka producer")
                .hasRootCauseMessage("planted");

        assertThat(EVENTS).contains("key serializer closed", "reporter closed");
        assertThat(beans("kafka.producer:*")).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldThrowAtOnceWhenTheConfigurationIsWrong(ProducerKind kind) {
        Map<String, Object> withoutSerializers = Map.of("bootstrap.servers", "localhost:1");

        assertThatThrownBy(() -> create(kind, withoutSerializers)).isInstanceOf(ConfigException.class);
        assertThatThrownBy(() -> create(kind, "acks", "many")).isInstanceOf(ConfigException.class);
        assertThatThrownBy(() -> create(kind, "partitioner.class", String.class))
                .isExactlyInstanceOf(KafkaException.class);
        assertThatThrownBy(() -> create(kind, "bootstrap.servers", "nowhere.invalid:1"))
                .isExactlyInstanceOf(KafkaException.class)
                .hasCauseInstanceOf(ConfigException.class);
        assertThatThrownBy(() -> create(kind, "delivery.timeout.ms", 10, "request.timeout.ms", 20))
                .isExactlyInstanceOf(KafkaException.class)
                .hasCauseInstanceOf(ConfigException.class)
                .rootCause()
                .hasMessageContaining("delivery.timeout.ms");
    }

    /** The stock producer throws a bare NullPointerException for ten of them. */
    @Test
    void shouldWorkOrThrowAConfigExceptionWhenAKeyIsNull() {
        for (String key : ProducerConfig.configNames()) {
            Map<String, Object> configs = new HashMap<>(Map.of("bootstrap.servers", "localhost:1"));
            configs.put(key, null);
            try {
                ProducerKind.MILLRACE.create(configs).close(Duration.ZERO);
            } catch (RuntimeException e) {
                assertThat(e).as(key).isInstanceOf(ConfigException.class).hasMessageContaining(key);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldThrowWhenASerializerCannotBeClosed(ProducerKind kind) {
        Producer<Object, Object> producer = create(kind, "key.serializer", UnclosableSerializer.class);

        assertThatThrownBy(producer::close)
                .isExactlyInstanceOf(KafkaException.class)
                .hasMessage("Failed to close kafka producer");

        assertThat(EVENTS).contains("value serializer closed");
    }

    @ParameterizedTest
    @ValueSource(strings = {"key.serializer", "value.serializer", "partitioner.class", "interceptor.classes"})
    void shouldCloseAllOthersAndReportItWhenClosingOneEndsWithAnError(String key) throws Exception {
        for (ProducerKind kind : ProducerKind.values()) {
            EVENTS.clear();
            Producer<Object, Object> producer = create(
                    kind,
                    key,
                    ErrorAtClose.class.getName(),
                    "metric.reporters",
                    List.of(NotingReporter.class.getName(), "org.apache.kafka.common.metrics.JmxReporter"));

            // From 4.1 on, the stock producer only logs their failures.
            if (key.equals("interceptor.classes") && KafkaClients.hasMetricsOfPlugins()) {
                producer.close();
            } else {
                assertThatThrownBy(producer::close)
                        .isExactlyInstanceOf(KafkaException.class)
                        .hasMessage("Failed to close kafka producer")
                        .hasRootCauseInstanceOf(LinkageError.class);
            }

            assertThat(EVENTS).contains("closed with an error", "reporter closed");
            assertThat(EVENTS)
                    .filteredOn(event -> event.endsWith("serializer closed"))
                    .hasSize(key.endsWith("serializer") ? 1 : 2);
            assertThat(beans("kafka.producer:*")).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldReportItWhenClosingAMetricsReporterEndsWithAnError(ProducerKind kind) {
        Producer<Object, Object> producer = create(
                kind,
                "metric.reporters",
                List.of(ErrorAtClose.class.getName(), NotingReporter.class.getName()),
                "auto.include.jmx.reporter", // of 3.9, whose producer would not close it after the error
                false);

        assertThatThrownBy(producer::close)
                .isExactlyInstanceOf(KafkaException.class)
                .hasMessage("Failed to close kafka producer")
                .hasRootCauseInstanceOf(LinkageError.class);

        assertThat(EVENTS).contains("closed with an error", "key serializer closed", "value serializer closed");
        if (kind == ProducerKind.MILLRACE) { // the stock producer leaves it open
            assertThat(EVENTS).contains("reporter closed");
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldCloseWhenAMetricsReporterThrowsAnException(ProducerKind kind) {
        Producer<Object, Object> producer = create(
                kind, "metric.reporters", List.of(ThrowingReporter.class.getName(), NotingReporter.class.getName()));

        producer.close();

        assertThat(EVENTS).contains("reporter closed");
    }

    /** The stock producer leaves these open. */
    @Test
    void shouldCloseWhatCannotBeConfiguredOrMeasured() throws Exception {
        KafkaClients.assume(KafkaClients.hasMetricsOfPlugins(), "metrics of plugins");
        Map<String, String> failing = Map.of(
                "key.serializer", FailingSerializer.class.getName(),
                "interceptor.classes", UnmeasurableInterceptor.class.getName(),
                "metric.reporters", UnstartableReporter.class.getName() + "," + NotingReporter.class.getName());
        Map<String, String> closed = Map.of(
                "key.serializer", "failing serializer closed",
                "interceptor.classes", "interceptor closed",
                "metric.reporters", "reporter closed");
        for (String key : failing.keySet()) {
            EVENTS.clear();

            assertThatThrownBy(() -> create(ProducerKind.MILLRACE, key, failing.get(key)))
                    .isExactlyInstanceOf(KafkaException.class)
                    .hasRootCauseMessage("planted");

            assertThat(EVENTS).contains(closed.get(key));
        }
    }

    @Test
    void shouldCloseLinksThatAreOpenWhenALaterOneCannotBeOpened() {
        List<String> closed = new CopyOnWriteArrayList<>();
        ProducerParts.Network network = (kafka, images, ioThread) -> {
            if (ioThread == 2) {
                throw new IllegalStateException("planted");
            }
            return noting(kafka.openLink(images, ioThread), () -> closed.add("link " + ioThread));
        };

        assertThatThrownBy(() -> new MillraceProducer<>(
                        configs("millrace.io.threads", 3, "metric.reporters", NotingReporter.class.getName()),
                        null,
                        null,
                        network))
                .isExactlyInstanceOf(KafkaException.class)
                .hasRootCauseMessage("planted");

        assertThat(closed).containsExactly("link 1", "link 0");
        assertThat(EVENTS).contains("key serializer closed", "value serializer closed", "reporter closed");
    }

    /** Records that it was closed. */
    private static BrokerLink noting(BrokerLink link, Runnable onClose) {
        return (BrokerLink) Proxy.newProxyInstance(
                BrokerLink.class.getClassLoader(), new Class<?>[] {BrokerLink.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("close")) {
                        onClose.run();
                    }
                    return method.invoke(link, arguments);
                });
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldTakeTheLongestTimes(ProducerKind kind) {
        int longest = Integer.MAX_VALUE;
        List<Map<String, Object>> accepted = List.of(
                Map.of("linger.ms", longest, "delivery.timeout.ms", longest),
                Map.of("request.timeout.ms", longest, "delivery.timeout.ms", longest),
                Map.of("linger.ms", longest, "request.timeout.ms", longest, "delivery.timeout.ms", longest),
                Map.of("linger.ms", Long.MAX_VALUE, "delivery.timeout.ms", longest),
                Map.of("linger.ms", Long.MAX_VALUE));
        for (Map<String, Object> times : accepted) {
            Map<String, Object> configs = configs();
            configs.putAll(times);
            create(kind, configs).close();
        }

        assertThatThrownBy(() -> create(kind, "linger.ms", Long.MAX_VALUE, "delivery.timeout.ms", longest - 1))
                .hasCauseInstanceOf(ConfigException.class);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldAskConfigProviders(ProducerKind kind) {
        try (Producer<Object, Object> producer = create(
                kind,
                "config.providers",
                "test",
                "config.providers.test.class",
                Provider.class.getName(),
                "client.id",
                "${test:secrets:name}")) {
            assertThat(producer.metrics().keySet())
                    .allMatch(name -> "provided".equals(name.tags().get("client-id")));
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldGiveMetricsToPluginsThatWantSome(ProducerKind kind) {
        KafkaClients.assume(KafkaClients.hasMetricsOfPlugins(), "metrics of plugins");
        try (Producer<Object, Object> producer = create(kind, "value.serializer", MeasuredSerializer.class)) {
            assertThat(producer.metrics().keySet())
                    .filteredOn(name -> name.name().equals("of-my-own"))
                    .singleElement()
                    .satisfies(name -> assertThat(name.tags())
                            .containsEntry("config", "value.serializer")
                            .containsEntry("class", "MeasuredSerializer"));
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldReportNoMetricsToJmxWhenOnlyAnotherReporterIsAskedFor(ProducerKind kind) throws Exception {
        try (Producer<Object, Object> producer = create(
                kind,
                "metric.reporters",
                NotingReporter.class.getName(),
                "auto.include.jmx.reporter", // of 3.9, where it is true by default
                false,
                "partitioner.class",
                RoundRobinPartitioner.class)) {
            assertThat(beans("kafka.producer:type=producer-metrics,*")).isEmpty();
            assertThat(producer.metrics()).isNotEmpty();
        }
    }

    private static Producer<Object, Object> create(ProducerKind kind, Object... more) {
        return create(kind, configs(more));
    }

    private static Map<String, Object> configs(Object... more) {
        Map<String, Object> configs = new HashMap<>();
        configs.put("bootstrap.servers", "localhost:1");
        configs.put("key.serializer", NotingSerializer.class);
        configs.put("value.serializer", NotingSerializer.class);
        return ProducerKind.with(configs, more);
    }

    private static Set<ObjectName> beans(String pattern) throws MalformedObjectNameException {
        return ManagementFactory.getPlatformMBeanServer().queryNames(new ObjectName(pattern), null);
    }

    private static Producer<Object, Object> create(ProducerKind kind, Map<String, Object> configs) {
        return kind == ProducerKind.STOCK ? new KafkaProducer<>(configs) : new MillraceProducer<>(configs);
    }

    /** Records the calls it gets. */
    public static class NotingSerializer implements Serializer<Object> {
        private String name;

        @Override
        public void configure(Map<String, ?> configs, boolean isKey) {
            name = isKey ? "key serializer" : "value serializer";
            EVENTS.add(name + " configured for " + configs.get("client.id"));
        }

        @Override
        public byte[] serialize(String topic, Object data) {
            return new byte[0];
        }

        @Override
        public void close() {
            EVENTS.add(name + " closed");
        }
    }

    /** Cannot be configured. */
    public static final class FailingSerializer extends ByteArraySerializer {
        @Override
        public void configure(Map<String, ?> configs, boolean isKey) {
            throw new IllegalStateException("planted");
        }

        @Override
        public void close() {
            EVENTS.add("failing serializer closed");
        }
    }

    /** Fits every plug-in key; its {@code close} throws an {@code Error}. */
    public static final class ErrorAtClose extends RoundRobinPartitioner
            implements Serializer<Object>, ProducerInterceptor<Object, Object>, MetricsReporter {
        @Override
        public void configure(Map<String, ?> configs) {}

        @Override
        public byte[] serialize(String topic, Object data) {
            return new byte[0];
        }

        @Override
        public ProducerRecord<Object, Object> onSend(ProducerRecord<Object, Object> record) {
            return record;
        }

        @Override
        public void init(List<KafkaMetric> metrics) {}

        @Override
        public void metricChange(KafkaMetric metric) {}

        @Override
        public void metricRemoval(KafkaMetric metric) {}

        @Override
        public void close() {
            EVENTS.add("closed with an error");
            throw new LinkageError("planted");
        }
    }

    /** Throws when it gets its metrics. */
    public static final class UnmeasurableInterceptor implements ProducerInterceptor<Object, Object>, Monitorable {
        @Override
        public void configure(Map<String, ?> configs) {}

        @Override
        public void withPluginMetrics(PluginMetrics metrics) {
            throw new IllegalStateException("planted");
        }

        @Override
        public ProducerRecord<Object, Object> onSend(ProducerRecord<Object, Object> record) {
            return record;
        }

        @Override
        public void close() {
            EVENTS.add("interceptor closed");
        }
    }

    /** Cannot be closed. */
    public static final class UnclosableSerializer extends ByteArraySerializer {
        @Override
        public void close() {
            throw new IllegalStateException("planted");
        }
    }

    /** Registers its own metric. */
    public static final class MeasuredSerializer extends ByteArraySerializer implements Monitorable {
        @Override
        public void withPluginMetrics(PluginMetrics metrics) {
            MetricName name = metrics.metricName("of-my-own", "", new LinkedHashMap<>());
            metrics.addMetric(name, (Gauge<Double>) (config, now) -> 1.0);
        }
    }

    /** Cannot be started. */
    public static final class UnstartableReporter extends NotingReporter {
        @Override
        public void init(List<KafkaMetric> metrics) {
            throw new IllegalStateException("planted");
        }
    }

    /** Its {@code close} throws an exception that is not an {@code Error}. */
    public static final class ThrowingReporter extends NotingReporter {
        @Override
        public void close() {
            throw new IllegalStateException("planted");
        }
    }

    /** Records the calls it gets. */
    public static class NotingReporter implements MetricsReporter {
        @Override
        public void configure(Map<String, ?> configs) {
            EVENTS.add("reporter configured for " + configs.get("client.id"));
        }

        @Override
        public void contextChange(MetricsContext context) {
            EVENTS.add("reporter in " + new TreeMap<>(context.contextLabels()));
        }

        @Override
        public void init(List<KafkaMetric> metrics) {
            EVENTS.add("reporter started");
        }

        @Override
        public void metricChange(KafkaMetric metric) {}

        @Override
        public void metricRemoval(KafkaMetric metric) {}

        @Override
        public void close() {
            EVENTS.add("reporter closed");
        }
    }

    /** Knows one secret. */
    public static final class Provider implements ConfigProvider {
        @Override
        public void configure(Map<String, ?> configs) {}

        @Override
        public ConfigData get(String path) {
            return get(path, Set.of());
        }

        @Override
        public ConfigData get(String path, Set<String> keys) {
            return new ConfigData(Map.of("name", "provided"));
        }

        @Override
        public void close() {}
    }
}
