package dev.millrace.client.kafka;

import dev.millrace.client.accumulator.AppendCounters;
import dev.millrace.client.accumulator.BatchCodec;
import dev.millrace.client.accumulator.FailureLog;
import dev.millrace.client.io.BrokerLink;
import dev.millrace.client.memory.BufferPool;
import dev.millrace.client.metadata.ClusterImages;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.ClientUtils;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.ClusterResource;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.internals.ClusterResourceListeners;
import org.apache.kafka.common.metrics.KafkaMetricsContext;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.utils.AppInfoParser;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Utils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one producer needs of Kafka's internals: clock, metrics, network, codec.
 *
 * <p><b>Threads:</b> built by one, then read by all; {@link #close} once.
 */
public final class KafkaBridge implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(KafkaBridge.class);
    private static final String JMX_PREFIX = "kafka.producer";

    private final ProducerConfig config;
    private final Time time = new MonotonicTime();
    private final Telemetry telemetry;
    private final Metrics metrics;
    private final ProducerSensors sensors;
    private final ClusterResourceListeners listeners = new ClusterResourceListeners();
    private final List<Plugins<?, ?>> plugins = new ArrayList<>();
    private final TransactionProtocol transactions;

    /** Starts metrics and clock; {@code config} is validated already. */
    public KafkaBridge(ProducerConfig config) {
        this.config = config;
        this.transactions = new TransactionProtocol(config);
        String clientId = config.getString(ProducerConfig.CLIENT_ID_CONFIG);
        MetricConfig metricConfig = new MetricConfig()
                .samples(config.getInt(ProducerConfig.METRICS_NUM_SAMPLES_CONFIG))
                .timeWindow(config.getLong(ProducerConfig.METRICS_SAMPLE_WINDOW_MS_CONFIG), TimeUnit.MILLISECONDS)
                .recordLevel(
                        Sensor.RecordingLevel.forName(config.getString(ProducerConfig.METRICS_RECORDING_LEVEL_CONFIG)))
                .tags(Map.of("client-id", clientId));
        List<MetricsReporter> reporters = CommonClientConfigs.metricsReporters(clientId, config);
        try {
            listeners.maybeAddAll(reporters);
            this.telemetry = new Telemetry(config, time);
            telemetry.reporter().ifPresent(reporters::add);
            this.metrics = new Metrics(
                    metricConfig,
                    reporters,
                    time,
                    new KafkaMetricsContext(
                            JMX_PREFIX, config.originalsWithPrefix(CommonClientConfigs.METRICS_CONTEXT_PREFIX)));
            this.sensors = new ProducerSensors(metrics);
            AppInfoParser.registerAppInfo(JMX_PREFIX, clientId, metrics, time.milliseconds());
        } catch (RuntimeException | Error e) {
            reporters.forEach(new Closer(e)::close);
            throw e;
        }
    }

    TransactionProtocol transactions() {
        return transactions;
    }

    /** Milliseconds that no change of the wall clock moves. */
    public long nowMs() {
        return time.milliseconds();
    }

    /**
     * The addresses of {@code bootstrap.servers}.
     *
     * @throws org.apache.kafka.common.config.ConfigException none of them can be resolved
     */
    public List<InetSocketAddress> bootstrapServers() {
        return ClientUtils.parseAndValidateAddresses(config);
    }

    /**
     * Makes the application's objects; {@link #close} closes them.
     *
     * @param keySerializer null if the configuration names it
     * @param valueSerializer null if the configuration names it
     */
    public <K, V> Plugins<K, V> plugIn(Serializer<K> keySerializer, Serializer<V> valueSerializer) {
        Plugins<K, V> made = new Plugins<>(config, metrics, listeners, keySerializer, valueSerializer);
        plugins.add(made);
        return made;
    }

    /** The network of an I/O thread, whose brokers are those of the current image. */
    public BrokerLink openLink(ClusterImages images, int ioThread) {
        return new NetworkBrokerLink(config, this, images, ioThread);
    }

    /** The codec of {@code compression.type}. */
    public BatchCodec codec() {
        return CompressionCodec.of(config);
    }

    /** The stock producer's own metrics. */
    public ProducerSensors sensors() {
        return sensors;
    }

    public Telemetry telemetry() {
        return telemetry;
    }

    /** Adds the metrics that only Millrace has. */
    public void watch(AppendCounters counters, BufferPool memory, ClusterImages images) {
        sensors.watch(memory);
        MillraceMetrics.register(metrics, counters, memory, images);
    }

    /** All metrics; the map follows what is added and removed. */
    public Map<MetricName, ? extends Metric> metrics() {
        return Collections.unmodifiableMap(metrics.metrics());
    }

    Metrics allMetrics() {
        return metrics;
    }

    Time time() {
        return time;
    }

    /** Tells plugins that want to know it the cluster's id; what they throw is logged. */
    void onClusterId(String clusterId) {
        try {
            listeners.onUpdate(new ClusterResource(clusterId));
        } catch (Throwable t) { // whoever waits for this metadata must get it
            FailureLog.error(log, "A listener for the cluster's id threw, told of {}", clusterId, t);
        }
    }

    /**
     * Closes the application's objects and takes the metrics away.
     *
     * @throws KafkaException one of the application's objects could not be closed; all others are
     */
    @Override
    public void close() {
        Closer closer = new Closer();
        plugins.forEach(made -> made.closeWith(closer));
        closer.close(sensors);
        List.copyOf(metrics.reporters()).forEach(reporter -> closer.close(() -> close(reporter)));
        closer.close(metrics);
        String clientId = config.getString(ProducerConfig.CLIENT_ID_CONFIG);
        closer.close(() -> AppInfoParser.unregisterAppInfo(JMX_PREFIX, clientId, metrics));
        if (closer.failure() != null) {
            throw new KafkaException("Failed to close kafka producer", closer.failure());
        }
    }

    /** One by one: {@code metrics} itself would stop at the first Error. Exceptions it logs, too. */
    private void close(MetricsReporter reporter) {
        try {
            metrics.removeReporter(reporter);
        } catch (RuntimeException e) {
            log.error(
                    "Metrics reporter {} could not be closed",
                    reporter.getClass().getName(),
                    e);
        }
    }

    /** Where the stock client sends records with this key: murmur2, sign bit off, modulo. */
    public static int partitionForKey(byte[] key, int partitions) {
        return Utils.toPositive(Utils.murmur2(key)) % partitions;
    }
}
