package dev.millrace.client.kafka;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The version of {@code kafka-clients} that the application has. Only its public API is used, so newer versions work as
 * well; older ones lack something.
 *
 * <p><b>Threads:</b> any.
 */
public final class KafkaVersion {
    private static final Logger log = LoggerFactory.getLogger(KafkaVersion.class);

    private static final KafkaVersion OLDEST = new KafkaVersion(3, 9, "3.9");
    private static final KafkaVersion NEWEST_TESTED = new KafkaVersion(4, 4, "4.4");

    /** Major and minor number, and what follows them, such as a patch number or a vendor's name. */
    private static final Pattern FORMAT = Pattern.compile("(\\d+)\\.(\\d+).*");

    /** Confluent's 7.9.0-ccs is Kafka's 3.9.0, and so on. */
    private static final Pattern CONFLUENT = Pattern.compile(".*-(ccs|ce)\\b.*");

    private static final int CONFLUENT_IS_AHEAD_BY = 4;

    private final int major;
    private final int minor;
    private final String text;

    private KafkaVersion(int major, int minor, String text) {
        this.major = major;
        this.minor = minor;
        this.text = text;
    }

    /**
     * Checks the version on the class path. Logs a line if it is newer than every tested version.
     *
     * @throws KafkaException it is too old
     */
    public static void check() {
        String stated = stated();
        KafkaVersion found = parse(stated);
        if (found == null || found.isNewerThanTested()) {
            log.info("Millrace was tested with kafka-clients {} to {}; this is {}", OLDEST, NEWEST_TESTED, stated);
        } else if (found.isTooOld()) {
            throw new KafkaException(
                    "kafka-clients " + stated + " is on the class path; Millrace needs at least " + OLDEST);
        }
    }

    /** Returns the version; null if {@code stated} is not a version. */
    static KafkaVersion parse(String stated) {
        Matcher matcher = FORMAT.matcher(stated);
        if (!matcher.matches()) {
            return null;
        }
        int major = Integer.parseInt(matcher.group(1));
        boolean confluent = CONFLUENT.matcher(stated).matches();
        return new KafkaVersion(
                confluent ? major - CONFLUENT_IS_AHEAD_BY : major, Integer.parseInt(matcher.group(2)), stated);
    }

    boolean isTooOld() {
        return isOlderThan(OLDEST);
    }

    boolean isNewerThanTested() {
        return NEWEST_TESTED.isOlderThan(this);
    }

    private boolean isOlderThan(KafkaVersion other) {
        return major != other.major ? major < other.major : minor < other.minor;
    }

    /** Returns the version that the jar with the public API states, or that it states none. */
    public static String stated() {
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

    @Override
    public String toString() {
        return text;
    }
}
