package dev.millrace.client.kafka;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;

/**
 * The versions of {@code kafka-clients} that this package works with. Internals of Kafka move between versions; so this
 * class must not use any.
 *
 * <p><b>Threads:</b> any.
 */
public final class KafkaVersion {
    private static final Set<String> SUPPORTED = Set.of("4.3.1");

    private KafkaVersion() {}

    /**
     * Checks the version on the class path.
     *
     * @throws KafkaException it is not supported
     */
    public static void check() {
        String found = versionOnClassPath();
        if (!SUPPORTED.contains(found)) {
            throw new KafkaException("kafka-clients " + found
                    + " is on the class path; this version of Millrace works with " + String.join(", ", SUPPORTED));
        }
    }

    /** The version that the jar with the public API states. */
    private static String versionOnClassPath() {
        Properties version = new Properties();
        try (InputStream in = Producer.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            if (in != null) {
                version.load(in);
            }
        } catch (IOException e) {
            throw new KafkaException("Cannot read the version of kafka-clients", e);
        }
        return version.getProperty("version", "of an unknown version").trim();
    }
}
