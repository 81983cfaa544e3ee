package dev.millrace.client.kafka;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;

/**
 * Which versions of {@code kafka-clients} this package was built and tested against: its internals move between them.
 * For that reason this class uses none of them.
 */
public final class KafkaVersion {
    private static final Set<String> SUPPORTED = Set.of("4.3.1");

    private KafkaVersion() {}

    /**
     * Looks at the version on the class path.
     *
     * @throws KafkaException it is not one that works
     */
    public static void check() {
        String found = found();
        if (!SUPPORTED.contains(found)) {
            throw new KafkaException("kafka-clients " + found
                    + " is on the class path; this version of Millrace works with " + String.join(", ", SUPPORTED));
        }
    }

    /** What the jar that holds the public API says of itself. */
    private static String found() {
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
