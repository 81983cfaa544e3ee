package dev.millrace.client.support;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Properties;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.common.errors.TransactionAbortableException;

/** The kafka-clients on the class path; {@code client/versions} runs tests with older ones than they are compiled with. */
public final class KafkaClients {
    private KafkaClients() {}

    /** Such as 4.3.1. */
    public static String version() {
        Properties properties = new Properties();
        try (InputStream in = ProducerInterceptor.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            properties.load(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return properties.getProperty("version");
    }

    /** Whether interceptors are told the headers of an acknowledged record; since 4.1. */
    public static boolean hasHeadersInAcknowledgement() {
        return Arrays.stream(ProducerInterceptor.class.getMethods())
                .anyMatch(method -> method.getName().equals("onAcknowledgement") && method.getParameterCount() == 3);
    }

    /** Whether an application can offer metrics of its own to brokers; since 4.0. */
    public static boolean hasMetricsOfApplications() {
        return Arrays.stream(Producer.class.getMethods())
                .anyMatch(method -> method.getName().equals("registerMetricForSubscription"));
    }

    /** Whether plugins can have metrics of their own; since 4.1. */
    public static boolean hasMetricsOfPlugins() {
        return KafkaClients.class.getClassLoader().getResource("org/apache/kafka/common/metrics/Monitorable.class")
                != null;
    }

    /**
     * Whether the stock producer makes a {@link TransactionAbortableException} of a time-out in a transaction, so that
     * nobody takes it for a reason to send again; since 4.1.
     */
    public static boolean hasAbortableTimeouts() {
        return Arrays.stream(TransactionAbortableException.class.getConstructors())
                .anyMatch(constructor -> constructor.getParameterCount() == 2);
    }

    /** Skips the test if its subject came with a later version. */
    public static void assume(boolean isThere, String what) {
        assumeTrue(isThere, "kafka-clients " + version() + " has no " + what);
    }
}
