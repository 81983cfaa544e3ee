package dev.millrace.client.support;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.Await;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Set;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.Metric;

/**
 * Checks whether a producer has left anything behind: memory in use, a request in flight, a thread, a bean of a metric.
 */
public final class LeakOracle {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Metric total;
    private final Metric available;
    private final Metric inFlight;
    private final String clientId;

    private LeakOracle(Producer<?, ?> producer) {
        total = metric(producer, "buffer-total-bytes");
        available = metric(producer, "buffer-available-bytes");
        inFlight = metric(producer, "requests-in-flight");
        clientId = total.metricName().tags().get("client-id");
    }

    /** For an open producer; no other producer may have its client id. */
    public static LeakOracle of(Producer<?, ?> producer) {
        return new LeakOracle(producer);
    }

    /** Blocks until all memory of the open producer is free, so every record has an outcome. */
    public void awaitFreeMemory() {
        Await.until("all memory is free", PATIENCE, () -> value(available) == value(total));
    }

    /** Call it when {@code close} has returned. */
    public void assertNothingLeft() throws MalformedObjectNameException {
        assertThat(value(inFlight)).as("requests in flight").isZero();
        assertNothingLeftByForce();
    }

    /**
     * As {@link #assertNothingLeft}, for a producer that abandoned requests: a closed network client still counts
     * those.
     */
    public void assertNothingLeftByForce() throws MalformedObjectNameException {
        assertThat(value(available)).as("free memory").isEqualTo(value(total));
        Await.until(
                "no thread of the producer is left",
                PATIENCE,
                () -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().contains("| " + clientId)));
        Set<ObjectName> beans = ManagementFactory.getPlatformMBeanServer()
                .queryNames(new ObjectName("kafka.producer:client-id=" + clientId + ",*"), null);
        assertThat(beans).as("beans of metrics").isEmpty();
    }

    private static Metric metric(Producer<?, ?> producer, String name) {
        return producer.metrics().values().stream()
                .filter(metric -> metric.metricName().name().equals(name)
                        && metric.metricName().group().equals("producer-metrics"))
                .findFirst()
                .orElseThrow(() -> new AssertionError("The producer has no metric " + name));
    }

    private static double value(Metric metric) {
        return ((Number) metric.metricValue()).doubleValue();
    }
}
