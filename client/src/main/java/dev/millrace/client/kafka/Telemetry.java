package dev.millrace.client.kafka;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.apache.kafka.common.telemetry.internals.ClientTelemetryReporter;
import org.apache.kafka.common.telemetry.internals.ClientTelemetrySender;
import org.apache.kafka.common.telemetry.internals.ClientTelemetryUtils;
import org.apache.kafka.common.utils.Time;

/**
 * Pushes to the brokers the metrics that they subscribe to (KIP-714), unless {@code enable.metrics.push} is false. The
 * collecting and the protocol are kafka-clients'; it sends through the network client of the first I/O thread.
 *
 * <p><b>Threads:</b> any.
 */
public final class Telemetry {
    /** Without one, no broker is ever asked what it wants to know. */
    private final Optional<ClientTelemetryReporter> reporter;

    private final Time time;
    private final int requestTimeoutMs;

    /** Until then closing waits for the last push. */
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

    /** What must be told of all metrics. */
    Optional<MetricsReporter> reporter() {
        return reporter.map(MetricsReporter.class::cast);
    }

    /** What the network client asks for requests; null when nothing is pushed. */
    ClientTelemetrySender sender() {
        return reporter.map(ClientTelemetryReporter::telemetrySender).orElse(null);
    }

    /**
     * The id under which the brokers know this producer; blocks until they have given one, or null after {@code timeout}.
     *
     * @throws IllegalArgumentException a negative timeout
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

    /** Takes back what {@link #register} offered. */
    public void unregister(KafkaMetric metric) {
        reporter.ifPresent(on -> on.metricRemoval(metric));
    }

    /** Lets a last push be sent, if the brokers want any and take it within {@code request.timeout.ms}. */
    public void beginClose() {
        reporter.ifPresent(on -> {
            on.initiateClose();
            if (isPushDue(on) && hasSubscription(on)) {
                lastPushByMs = time.milliseconds() + requestTimeoutMs;
            }
        });
    }

    /** Whether a request in flight may be the last push. */
    boolean isClosing(long nowMs) {
        return nowMs < lastPushByMs;
    }

    /** Whether a last push is to be sent. */
    boolean hasLastPush(long nowMs) {
        return isClosing(nowMs) && isPushDue(reporter.orElseThrow());
    }

    /** Without one kafka-clients' sender stays due and sends nothing: waiting for it would be in vain. */
    private static boolean hasSubscription(ClientTelemetryReporter reporter) {
        try {
            return reporter.telemetrySender().clientInstanceId(Duration.ZERO).isPresent();
        } catch (InterruptException e) {
            return false; // the flag is set again, for close() to see
        }
    }

    private static boolean isPushDue(ClientTelemetryReporter reporter) {
        return reporter.telemetrySender().timeToNextUpdate(Long.MAX_VALUE) == 0;
    }
}
