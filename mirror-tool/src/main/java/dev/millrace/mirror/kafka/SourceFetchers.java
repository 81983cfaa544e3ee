package dev.millrace.mirror.kafka;

import dev.millrace.client.kafka.BrokerConnections;
import dev.millrace.client.kafka.MetricsTime;
import dev.millrace.client.kafka.MonotonicTime;
import dev.millrace.client.kafka.WorkableConfigs;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.kafka.clients.ApiVersions;
import dev.millrace.kafka.clients.ClientUtils;
import dev.millrace.kafka.clients.CommonClientConfigs;
import dev.millrace.kafka.clients.DefaultHostResolver;
import dev.millrace.kafka.common.utils.Time;
import dev.millrace.kafka.common.utils.internals.LogContext;
import dev.millrace.mirror.fetch.FetchLoop;
import dev.millrace.mirror.fetch.FetchSensors;
import dev.millrace.mirror.fetch.FetchSettings;
import dev.millrace.mirror.fetch.FetchSink;
import dev.millrace.mirror.fetch.Fetcher;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.metrics.KafkaMetricsContext;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Makes fetchers with their own network connections.
 *
 * <p><b>Threads:</b> any.
 */
public final class SourceFetchers {
    private static final String METRICS_PREFIX = "kafka.consumer";
    private static final int MAX_IN_FLIGHT = 100;

    private SourceFetchers() {}

    /**
     * Returns a fetcher that is not started. It needs neither deserializers nor a group.
     *
     * @param consumerConfig as for a {@code KafkaConsumer}; {@code client.id} should not be that of another client of
     *     this process, whose metrics it would replace
     * @throws org.apache.kafka.common.config.ConfigException a value is wrong, or no bootstrap server can be resolved
     */
    public static Fetcher create(Map<String, ?> consumerConfig, FetchSink sink) {
        return create(consumerConfig, sink, UnaryOperator.identity());
    }

    /** Does the same; {@code change} may change the settings that the configuration does not have. */
    public static Fetcher create(Map<String, ?> consumerConfig, FetchSink sink, UnaryOperator<FetchSettings> change) {
        Map<String, Object> complete = new HashMap<>(consumerConfig);
        complete.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        complete.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        ConsumerConfig config = WorkableConfigs.consumer(complete);
        FetchSettings settings = change.apply(FetchSettings.of(config));
        ClusterImages images = new ClusterImages(ClusterImage.bootstrap(ClientUtils.parseAndValidateAddresses(
                config.getList(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG),
                config.getString(ConsumerConfig.CLIENT_DNS_LOOKUP_CONFIG))));
        Time time = new MonotonicTime();
        String clientId = config.getString(ConsumerConfig.CLIENT_ID_CONFIG);
        Metrics metrics = metrics(config, clientId, time);
        try {
            FetchSensors sensors = new FetchSensors(metrics, clientId);
            NetworkFetchLink link =
                    new NetworkFetchLink(config, connections(config, images, metrics, sensors.throttle(), time));
            FetchLoop loop = new FetchLoop(link, sink, settings, images, sensors, time::milliseconds);
            return new Fetcher(loop, link, sink, List.of(metrics));
        } catch (RuntimeException | Error e) {
            metrics.close();
            throw e;
        }
    }

    private static Metrics metrics(ConsumerConfig config, String clientId, Time time) {
        MetricConfig metricConfig = new MetricConfig()
                .samples(config.getInt(ConsumerConfig.METRICS_NUM_SAMPLES_CONFIG))
                .timeWindow(config.getLong(ConsumerConfig.METRICS_SAMPLE_WINDOW_MS_CONFIG), TimeUnit.MILLISECONDS)
                .recordLevel(
                        Sensor.RecordingLevel.forName(config.getString(ConsumerConfig.METRICS_RECORDING_LEVEL_CONFIG)))
                .tags(Map.of("client-id", clientId));
        return new Metrics(
                metricConfig,
                CommonClientConfigs.metricsReporters(clientId, config),
                new MetricsTime(time),
                new KafkaMetricsContext(
                        METRICS_PREFIX, config.originalsWithPrefix(CommonClientConfigs.METRICS_CONTEXT_PREFIX)));
    }

    private static BrokerConnections connections(
            ConsumerConfig config, ClusterImages images, Metrics metrics, Sensor throttle, Time time) {
        String clientId = config.getString(ConsumerConfig.CLIENT_ID_CONFIG);
        int requestTimeoutMs = config.getInt(ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG);
        return new BrokerConnections(
                images,
                requestTimeoutMs,
                nodes -> ClientUtils.createNetworkClient(
                        config,
                        config.getList(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG),
                        clientId,
                        metrics,
                        "consumer",
                        new LogContext("[Mirror fetcher clientId=" + clientId + "] "),
                        new ApiVersions(),
                        time,
                        MAX_IN_FLIGHT,
                        requestTimeoutMs,
                        null,
                        nodes,
                        new DefaultHostResolver(),
                        throttle,
                        null));
    }
}
