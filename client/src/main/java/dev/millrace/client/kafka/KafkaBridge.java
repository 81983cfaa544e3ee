package dev.millrace.client.kafka;

import dev.millrace.client.accumulator.AppendCounters;
import dev.millrace.client.accumulator.BatchCodec;
import dev.millrace.client.accumulator.FailureLog;
import dev.millrace.client.io.BrokerLink;
import dev.millrace.client.memory.BufferPool;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.kafka.clients.ClientUtils;
import dev.millrace.kafka.clients.CommonClientConfigs;
import dev.millrace.kafka.common.internals.ClusterResourceListeners;
import dev.millrace.kafka.common.utils.Time;
import dev.millrace.kafka.common.utils.Utils;
import dev.millrace.kafka.common.utils.internals.AppInfoParser;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.ClusterResource;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.KafkaMetricsContext;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.common.serialization.Serializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts of Kafka's internals that one producer needs: clock, metrics, network, codec, the application's plugins.
 *
 * <p><b>Threads:</b> built and closed by one thread each; in between any thread reads.
 */
public final class KafkaBridge implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(KafkaBridge.class);
    private static final String JMX_PREFIX = "kafka.producer";
    private static final long HALF_MS_IN_NS = 500_000;

    private final ProducerConfig config;
    private final MonotonicTime time = new MonotonicTime();
    private final Telemetry telemetry;
    private final Metrics metrics;
    private final ProducerSensors sensors;
    private final ClusterResourceListeners listeners = new ClusterResourceListeners();
    private final List<Plugins<?, ?>> plugins = new ArrayList<>();
    private final TransactionProtocol transactions;

    /** Starts the clock and the metrics; {@code config} must be validated. */
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
            KafkaApi.includeJmxReporter(reporters, config);
            listeners.maybeAddAll(reporters);
            this.telemetry = new Telemetry(config, time);
            telemetry.reporter().ifPresent(reporters::add);
            this.metrics = new Metrics(
                    metricConfig,
                    reporters,
                    new MetricsTime(time),
                    new KafkaMetricsContext(
                            JMX_PREFIX, config.originalsWithPrefix(CommonClientConfigs.METRICS_CONTEXT_PREFIX)));
            this.sensors = new ProducerSensors(metrics);
            AppInfoParser.registerAppInfo(JMX_PREFIX, clientId, metrics, time.milliseconds());
        } catch (RuntimeException | Error e) {
            reporters.forEach(new Closer(e)::close);
            throw e;
        }
    }

    TransactionProtocol transactionProtocol() {
        return transactions;
    }

    /** Returns milliseconds on a clock that changes of the wall clock do not affect. */
    public long nowMs() {
        return time.milliseconds();
    }

    /** Returns the value of {@link #nowMs} half a millisecond ago. */
    public long halfMillisecondAgo() {
        return time.millisecondsBefore(HALF_MS_IN_NS);
    }

    /**
     * Returns the addresses of {@code bootstrap.servers}; none if the network clients resolve them later, because {@code
     * bootstrap.resolve.timeout.ms} is set.
     *
     * @throws org.apache.kafka.common.config.ConfigException none of them can be resolved
     */
    public List<InetSocketAddress> bootstrapServers() {
        if (config.getLong(NewerKeys.BOOTSTRAP_RESOLVE_TIMEOUT_MS) > 0) {
            return List.of();
        }
        return ClientUtils.parseAndValidateAddresses(
                config.getList(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG),
                config.getString(ProducerConfig.CLIENT_DNS_LOOKUP_CONFIG));
    }

    /**
     * Makes and configures the application's objects; {@link #close} closes them.
     *
     * @param keySerializer null if the configuration names it
     * @param valueSerializer null if the configuration names it
     */
    public <K, V> Plugins<K, V> createPlugins(Serializer<K> keySerializer, Serializer<V> valueSerializer) {
        Plugins<K, V> made = new Plugins<>(config, metrics, listeners, keySerializer, valueSerializer);
        plugins.add(made);
        return made;
    }

    /** Opens the network of an I/O thread; it connects to the brokers of the current image. */
    public BrokerLink openLink(ClusterImages images, int ioThread) {
        return new NetworkBrokerLink(config, this, images, ioThread);
    }

    /** Returns the codec of {@code compression.type}. */
    public BatchCodec codec() {
        return CompressionCodec.of(config);
    }

    /** Returns all codecs, by their numbers in the attributes of a batch. */
    public List<BatchCodec> allCodecs() {
        return CompressionCodec.all(config);
    }

    /** Returns the stock producer's own metrics. */
    public ProducerSensors sensors() {
        return sensors;
    }

    public Telemetry telemetry() {
        return telemetry;
    }

    /** Adds the metrics about memory and those that only Millrace has. */
    public void registerMetrics(AppendCounters counters, BufferPool memory, ClusterImages images) {
        sensors.registerMemory(memory);
        MillraceMetrics.register(metrics, counters, memory, images);
    }

    /** Adds the metric that tells when the certificate of this client expires. */
    public void addCertificateExpiry(DoubleSupplier epochSeconds) {
        MillraceMetrics.addCertificateExpiry(metrics, epochSeconds);
    }

    /** Returns a view of all metrics. */
    public Map<MetricName, ? extends Metric> metrics() {
        return Collections.unmodifiableMap(metrics.metrics());
    }

    Metrics metricsRegistry() {
        return metrics;
    }

    Time time() {
        return time;
    }

    /** Tells the cluster's id to the plugins that listen for it; logs what they throw. */
    void onClusterId(String clusterId) {
        try {
            listeners.onUpdate(new ClusterResource(clusterId));
        } catch (Throwable t) { // the threads that wait for this metadata must get it
            FailureLog.error(log, "A listener for the cluster's id threw when told {}", clusterId, t);
        }
    }

    /**
     * Closes the application's objects, and removes the metrics.
     *
     * @throws KafkaException one of the application's objects threw; the others are closed
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

    /** Closes one reporter: {@code metrics.close()} stops at the first Error. Logs exceptions, as that does. */
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

    /** Returns the partition that the stock client chooses for this key: murmur2 without the sign bit, modulo. */
    public static int partitionForKey(byte[] key, int partitions) {
        return Utils.toPositive(Utils.murmur2(key)) % partitions;
    }
}
