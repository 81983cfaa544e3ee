package dev.millrace.client.kafka;

import dev.millrace.kafka.common.internals.Plugin;
import java.lang.reflect.Constructor;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.metrics.JmxReporter;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.MetricsReporter;

/**
 * Tells which features, missing in the oldest versions, the public API of the application's kafka-clients has.
 *
 * <p><b>Threads:</b> immutable.
 */
final class KafkaApi {
    /** Whether interceptors are told the headers of an acknowledged record: since 4.1. */
    private static final boolean HAS_HEADERS_IN_ACKNOWLEDGEMENT = Arrays.stream(ProducerInterceptor.class.getMethods())
            .anyMatch(method -> method.getName().equals("onAcknowledgement") && method.getParameterCount() == 3);

    /** Whether plugins can have metrics of their own: since 4.1 (KIP-877). */
    private static final boolean HAS_MONITORABLE = isPresent("org.apache.kafka.common.metrics.Monitorable");

    /** Since 4.4 (KIP-909); null before. */
    private static final Constructor<? extends KafkaException> BOOTSTRAP_RESOLUTION = bootstrapResolution();

    /** A key that only 3.9 has. */
    private static final String AUTO_INCLUDE_JMX_REPORTER = "auto.include.jmx.reporter";

    private KafkaApi() {}

    /** Whether interceptors are told the headers of an acknowledged record. */
    static boolean hasHeadersInAcknowledgement() {
        return HAS_HEADERS_IN_ACKNOWLEDGEMENT;
    }

    /** Tells an interceptor a record's outcome as the producer of its version would. */
    static void acknowledge(
            ProducerInterceptor<?, ?> interceptor, RecordMetadata metadata, Exception error, Headers headers) {
        if (HAS_HEADERS_IN_ACKNOWLEDGEMENT) {
            interceptor.onAcknowledgement(metadata, error, headers);
        } else {
            interceptor.onAcknowledgement(metadata, error);
        }
    }

    /**
     * Gives a plugin its metrics, if it is {@code Monitorable}.
     *
     * @param key the configuration key of the plugin
     * @return an object that closes the plugin and removes its metrics
     */
    static AutoCloseable withMetrics(AutoCloseable plugin, Metrics metrics, String key) {
        return HAS_MONITORABLE ? Plugin.wrapInstance(plugin, metrics, key) : plugin;
    }

    /** Adds the reporter that 3.9 includes unless told not to; later versions have it in {@code metric.reporters}. */
    static void includeJmxReporter(List<MetricsReporter> reporters, ProducerConfig config) {
        boolean isIncluded = Boolean.TRUE.equals(config.values().get(AUTO_INCLUDE_JMX_REPORTER));
        if (isIncluded && reporters.stream().noneMatch(reporter -> reporter.getClass() == JmxReporter.class)) {
            JmxReporter reporter = new JmxReporter();
            reporter.configure(config.originals());
            reporters.add(reporter);
        }
    }

    /** Returns the exception as the application's kafka-clients has it; the same one if that does not have it. */
    static KafkaException bootstrapResolution(KafkaException failure) {
        try {
            return BOOTSTRAP_RESOLUTION == null ? failure : BOOTSTRAP_RESOLUTION.newInstance(failure.getMessage());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("A public constructor cannot be called", e);
        }
    }

    private static Constructor<? extends KafkaException> bootstrapResolution() {
        try {
            return Class.forName("org.apache.kafka.common.errors.BootstrapResolutionException")
                    .asSubclass(KafkaException.class)
                    .getConstructor(String.class);
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    private static boolean isPresent(String className) {
        try {
            Class.forName(className, false, ProducerInterceptor.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
