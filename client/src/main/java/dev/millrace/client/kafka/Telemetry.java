package dev.millrace.client.kafka;

import dev.millrace.kafka.common.telemetry.internals.ClientTelemetryReporter;
import dev.millrace.kafka.common.telemetry.internals.ClientTelemetrySender;
import dev.millrace.kafka.common.telemetry.internals.ClientTelemetryUtils;
import dev.millrace.kafka.common.utils.Time;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;

/**
 * Pushes the metrics to which the brokers subscribe (KIP-714), unless {@code enable.metrics.push} is false.
 * kafka-clients collects them and speaks the protocol, through the network client of the first I/O thread.
 *
 * <p><b>Threads:</b> any.
 */
public final class Telemetry {
    /** Empty if {@code enable.metrics.push} is false: then no broker is asked for its subscription. */
    private final Optional<ClientTelemetryReporter> reporter;

    private final Time time;
    private final int requestTimeoutMs;

    /** The time, in milliseconds, until which closing waits for the last push. */
    private volatile long lastPushByMs = Long.MIN_VALUE;

    Telemetry(ProducerConfig config, Time time) {
        this.time = time;
        this.requestTimeoutMs = config.getInt(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG);
        if (config.getBoolean(ProducerConfig.ENABLE_METRICS_PUSH_CONFIG)) {
            ClientTelemetryReporter made = new ClientTelemetryReporter(time);
            String clientId = config.getString(ProducerConfig.CLIENT_ID_CONFIG);
            made.configure(config.originals(Map.of(ProducerConfig.CLIENT_ID_CONFIG, clientId)));
            reporter = Optional.of(made);
        } else {
            reporter = Optional.empty();
        }
    }

    /** Returns the reporter that must be told about all metrics. */
    Optional<MetricsReporter> reporter() {
        return reporter.map(MetricsReporter.class::cast);
    }

    /** Returns the sender that builds the network client's requests; null if nothing is pushed. */
    ClientTelemetrySender sender() {
        return reporter.map(ClientTelemetryReporter::telemetrySender).orElse(null);
    }

    /**
     * Returns the id under which the brokers know this producer. Blocks until they have assigned one; null after {@code
     * timeout}.
     *
     * @throws IllegalArgumentException the timeout is negative
     * @throws IllegalStateException {@code enable.metrics.push} is false
     * @throws InterruptException interrupted while blocked
     */
    public Uuid clientInstanceId(Duration timeout) {
        ClientTelemetryReporter on = reporter.orElseThrow(() -> new IllegalStateException(
                "Telemetry is not enabled. Set config `" + ProducerConfig.ENABLE_METRICS_PUSH_CONFIG + "` to `true`."));
        return ClientTelemetryUtils.fetchClientInstanceId(on, timeout);
    }

    /** Offers a metric of the application to the brokers. */
    public void register(KafkaMetric metric) {
        reporter.ifPresent(on -> on.metricChange(metric));
    }

    /** Withdraws what {@link #register} offered. */
    public void unregister(KafkaMetric metric) {
        reporter.ifPresent(on -> on.metricRemoval(metric));
    }

    /**
     * Requests a last push, if brokers subscribe to metrics; closing waits for it at most {@code request.timeout.ms}.
     */
    public void beginClose() {
        reporter.ifPresent(on -> {
            if (hasSubscription(on)) {
                // This is set before the push is due: the I/O thread may send it at once, and must then wait for its
                // answer.
                lastPushByMs = time.milliseconds() + requestTimeoutMs;
            }
            on.initiateClose();
            if (!isLastPush(on)) {
                lastPushByMs = Long.MIN_VALUE;
            }
        });
    }

    /** Whether a request in flight may be the last push. */
    boolean isClosing(long nowMs) {
        return nowMs < lastPushByMs;
    }

    /** Whether the last push is still to be sent. */
    boolean hasLastPush(long nowMs) {
        return isClosing(nowMs) && isPushDue(reporter.orElseThrow());
    }

    /**
     * Without a subscription kafka-clients' sender is always due but sends nothing, so waiting for it would be useless.
     */
    private static boolean hasSubscription(ClientTelemetryReporter reporter) {
        try {
            return reporter.telemetrySender().clientInstanceId(Duration.ZERO).isPresent();
        } catch (InterruptException e) {
            return false; // the interrupt flag is set again, for close() to see
        }
    }

    /** Whether the last push is due or on its way, for which kafka-clients' sender has no further update. */
    private static boolean isLastPush(ClientTelemetryReporter reporter) {
        return isPushDue(reporter) || reporter.telemetrySender().timeToNextUpdate(1) == Long.MAX_VALUE;
    }

    private static boolean isPushDue(ClientTelemetryReporter reporter) {
        return reporter.telemetrySender().timeToNextUpdate(Long.MAX_VALUE) == 0;
    }
}
