package dev.millrace.client.it.frameworks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.SingleBrokerFixture;
import dev.millrace.testkit.cluster.TopicContents;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.binder.kafka.KafkaClientMetrics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.instrumentation.kafkaclients.v2_6.KafkaTelemetry;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** OpenTelemetry's library for Kafka's clients and Micrometer's, with the stock producer and with ours. */
@Tag("thorough")
class TracingIT extends SingleBrokerFixture {
    private static final int RECORDS = 300;
    private static final int TOO_LARGE = 2_000_000;

    private final InMemorySpanExporter spans = InMemorySpanExporter.create();
    private final InMemoryMetricReader metrics = InMemoryMetricReader.create();

    @AutoClose
    private final OpenTelemetrySdk sdk = OpenTelemetrySdk.builder()
            .setTracerProvider(SdkTracerProvider.builder()
                    .addSpanProcessor(SimpleSpanProcessor.create(spans))
                    .build())
            .setMeterProvider(
                    SdkMeterProvider.builder().registerMetricReader(metrics).build())
            .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
            .build();

    private final KafkaTelemetry telemetry = KafkaTelemetry.create(sdk);

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldTraceWhatAWrappedProducerSends(ProducerKind kind) throws Exception {
        String topic = topic("wrapped", kind, 2);

        try (Producer<byte[], byte[]> producer = telemetry.wrap(kind.create(cluster.clientConfig()))) {
            sendAll(producer, topic);
        }

        assertEachRecordHasItsSpan(topic);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldTraceWithTheInterceptor(ProducerKind kind) throws Exception {
        String topic = topic("intercepted", kind, 2);

        try (Producer<byte[], byte[]> producer = kind.create(with(telemetry.producerInterceptorConfigProperties()))) {
            sendAll(producer, topic);
        }

        assertEachRecordHasItsSpan(topic);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldMarkTheSpanOfARecordThatFails(ProducerKind kind) {
        String topic = topic("failing", kind, 1);

        try (Producer<byte[], byte[]> producer = telemetry.wrap(kind.create(cluster.clientConfig()))) {
            assertThat(producer.send(record(topic, TOO_LARGE))).failsWithin(PATIENCE);
        }

        assertThat(spans.getFinishedSpanItems()).singleElement().satisfies(span -> {
            assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
            assertThat(span.getEvents()).isNotEmpty();
        });
    }

    @Test
    void shouldExportAllMetricsOfTheStockProducerToOpenTelemetry() throws Exception {
        Set<String> stock = exported(ProducerKind.STOCK);

        assertThat(stock).hasSizeGreaterThan(30);
        assertThat(exported(ProducerKind.MILLRACE)).containsAll(stock);
    }

    private Set<String> exported(ProducerKind kind) throws Exception {
        try (Producer<byte[], byte[]> producer = kind.create(with(telemetry.metricConfigProperties()))) {
            sendAll(producer, topic("exported", kind, 1));
            return metrics.collectAllMetrics().stream()
                    .map(MetricData::getName)
                    .filter(name -> name.startsWith("kafka.producer"))
                    .collect(Collectors.toSet());
        }
    }

    @Test
    void shouldHaveAllMetersOfTheStockProducerInMicrometer() throws Exception {
        Set<String> stock = meters(ProducerKind.STOCK);

        assertThat(stock).hasSizeGreaterThan(30);
        assertThat(meters(ProducerKind.MILLRACE)).containsAll(stock);
    }

    private static Set<String> meters(ProducerKind kind) throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig());
                KafkaClientMetrics meters = new KafkaClientMetrics(producer)) {
            sendAll(producer, topic("metered", kind, 1));
            meters.bindTo(registry);
            return registry.getMeters().stream()
                    .map(Meter::getId)
                    .map(Meter.Id::getName)
                    .collect(Collectors.toSet());
        }
    }

    private static Map<String, Object> with(Map<String, ?> properties) {
        Map<String, Object> config = cluster.clientConfig();
        config.putAll(properties);
        return config;
    }

    private static void sendAll(Producer<byte[], byte[]> producer, String topic) throws Exception {
        Future<RecordMetadata> last = null;
        for (int i = 0; i < RECORDS; i++) {
            last = producer.send(record(topic));
        }
        producer.flush();
        assertThat(last.get().hasOffset()).isTrue();
    }

    private void assertEachRecordHasItsSpan(String topic) {
        List<ConsumerRecord<byte[], byte[]>> read = TopicContents.read(cluster.clientConfig(), topic);
        Set<String> inHeaders = read.stream().map(TracingIT::ids).collect(Collectors.toSet());
        Set<String> exported = spans.getFinishedSpanItems().stream()
                .map(span -> span.getTraceId() + "-" + span.getSpanId())
                .collect(Collectors.toSet());
        assertThat(read).hasSize(RECORDS);
        assertThat(inHeaders).hasSize(RECORDS).isEqualTo(exported);
    }

    /** Those of trace and span, between the header's version and its flags. */
    private static String ids(ConsumerRecord<byte[], byte[]> record) {
        String header = new String(record.headers().lastHeader("traceparent").value(), StandardCharsets.UTF_8);
        return header.substring(header.indexOf('-') + 1, header.lastIndexOf('-'));
    }
}
