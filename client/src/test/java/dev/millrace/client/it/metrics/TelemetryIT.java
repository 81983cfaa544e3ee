package dev.millrace.client.it.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.support.KafkaClients;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.metrics.Gauge;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.utils.Time;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Client telemetry (KIP-714) to a broker that subscribes to it. */
class TelemetryIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    private static Path folder;

    @AutoClose
    private static KafkaCluster cluster;

    @BeforeAll
    static void start() throws Exception {
        cluster = KafkaCluster.builder()
                .setting("metric.reporters", TelemetrySink.class.getName())
                .setting(TelemetrySink.FILE, sink().toString())
                .start();
        ConfigResource subscription = new ConfigResource(ConfigResource.Type.CLIENT_METRICS, "all");
        cluster.admin()
                .incrementalAlterConfigs(Map.of(
                        subscription,
                        List.of(
                                set("metrics", "org.apache.kafka.producer.,org.apache.kafka.app."),
                                set("interval.ms", "200"))))
                .all()
                .get();
        cluster.createTopic("t", 1, 1, Map.of());
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldPushWhatTheBrokerSubscribesTo(ProducerKind kind) throws Exception {
        KafkaClients.assume(KafkaClients.hasMetricsOfApplications(), "metrics of the application to push");
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig())) {
            // given a metric of the application in addition to the producer's
            KafkaMetric mine = gauge();
            producer.registerMetricForSubscription(mine);
            producer.send(new ProducerRecord<>("t", new byte[10])).get();

            // when
            Uuid id = producer.clientInstanceId(PATIENCE);

            // then
            assertThat(id).isNotNull().isEqualTo(producer.clientInstanceId(Duration.ZERO));
            awaitPush(id + " false .*app\\.mine.*producer\\.record\\.queue\\.time\\.max.*");
            assertThat(producer.metrics()).doesNotContainKey(mine.metricName());

            // and when the metric is unregistered
            producer.unregisterMetricFromSubscription(mine);
            awaitPush(id + " false (?!.*app\\.mine).*producer.*");
        }
    }

    @Test
    void shouldPushOnceMoreWhenClosed() throws Exception {
        Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(cluster.clientConfig());
        Uuid id = producer.clientInstanceId(PATIENCE);
        awaitPush(id + " false .*");

        producer.close();

        assertThat(pushes()).anyMatch(push -> push.startsWith(id + " true "));
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldRefuseToNameTheClientWhenNothingIsPushed(ProducerKind kind) {
        KafkaClients.assume(KafkaClients.hasMetricsOfApplications(), "metrics of the application to push");
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "enable.metrics.push", false)) {
            assertThatThrownBy(() -> producer.clientInstanceId(Duration.ZERO))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("enable.metrics.push");
            producer.registerMetricForSubscription(gauge());
            producer.unregisterMetricFromSubscription(gauge());
        }
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig())) {
            assertThatThrownBy(() -> producer.clientInstanceId(Duration.ofMillis(-1)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static KafkaMetric gauge() {
        return new KafkaMetric(
                new Object(),
                new MetricName("mine", "app-metrics", "", Map.of()),
                (Gauge<Double>) (config, now) -> 1.0,
                new MetricConfig(),
                Time.SYSTEM);
    }

    private static void awaitPush(String regex) {
        Await.until("a push like " + regex, PATIENCE, () -> pushes().stream().anyMatch(push -> push.matches(regex)));
    }

    private static List<String> pushes() {
        try {
            return Files.exists(sink()) ? Files.readAllLines(sink()) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path sink() {
        return folder.resolve("pushes");
    }

    private static AlterConfigOp set(String key, String value) {
        return new AlterConfigOp(new ConfigEntry(key, value), AlterConfigOp.OpType.SET);
    }
}
