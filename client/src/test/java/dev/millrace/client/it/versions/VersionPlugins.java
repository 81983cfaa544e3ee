package dev.millrace.client.it.versions;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.metrics.Gauge;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.apache.kafka.common.metrics.Monitorable;
import org.apache.kafka.common.metrics.PluginMetrics;

/** What a user may plug into a producer, with the features of each version of kafka-clients. */
final class VersionPlugins {
    /** What interceptors were told. */
    static final List<String> TOLD = new CopyOnWriteArrayList<>();

    /** The name of the metric that {@link Measured} adds. */
    static final String METRIC = "of-my-own";

    private VersionPlugins() {}

    /** Names of classes; {@link Measured} cannot be loaded in a version without metrics of plugins. */
    static List<String> interceptors(boolean withMetricsOfTheirOwn) {
        String plain = VersionPlugins.class.getName() + "$Interceptor";
        return withMetricsOfTheirOwn ? List.of(plain, VersionPlugins.class.getName() + "$Measured") : List.of(plain);
    }

    /** Notes in which of the two ways it is told of a record. */
    public static final class Interceptor implements ProducerInterceptor<byte[], byte[]> {
        @Override
        public void configure(Map<String, ?> configs) {}

        @Override
        public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
            return record;
        }

        @Override
        public void onAcknowledgement(RecordMetadata metadata, Exception error) {
            TOLD.add("acknowledged " + name(error));
        }

        @Override
        public void onAcknowledgement(RecordMetadata metadata, Exception error, Headers headers) {
            TOLD.add("acknowledged with headers " + name(error));
        }

        private static String name(Exception error) {
            return error == null ? "null" : error.getClass().getSimpleName();
        }

        @Override
        public void close() {}
    }

    /** Has a metric of its own. */
    public static final class Measured implements ProducerInterceptor<byte[], byte[]>, Monitorable {
        @Override
        public void configure(Map<String, ?> configs) {}

        @Override
        public void withPluginMetrics(PluginMetrics metrics) {
            metrics.addMetric(
                    metrics.metricName(METRIC, "", new LinkedHashMap<>()), (Gauge<Double>) (config, now) -> 1.0);
        }

        @Override
        public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
            return record;
        }

        @Override
        public void close() {}
    }

    /** Remembers the names of the metrics that it was given before it was closed. */
    public static final class Reporter implements MetricsReporter {
        private static final Set<String> CLOSED_WITH = ConcurrentHashMap.newKeySet();

        private final Set<String> names = ConcurrentHashMap.newKeySet();

        static Set<String> closedWith() {
            return CLOSED_WITH;
        }

        @Override
        public void configure(Map<String, ?> configs) {}

        @Override
        public void init(List<KafkaMetric> metrics) {
            metrics.forEach(this::metricChange);
        }

        @Override
        public void metricChange(KafkaMetric metric) {
            names.add(metric.metricName().name());
        }

        @Override
        public void metricRemoval(KafkaMetric metric) {}

        @Override
        public void close() {
            CLOSED_WITH.addAll(names);
        }
    }
}
