package dev.millrace.client.kafka;

import java.util.Set;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.utils.AppInfoParser;

/** Which versions of {@code kafka-clients} this package was built and tested against: its internals move between them. */
public final class KafkaVersion {
    private static final Set<String> SUPPORTED = Set.of("4.3.1");

    private KafkaVersion() {}

    /**
     * Looks at the version on the class path.
     *
     * @throws KafkaException it is not one that works
     */
    public static void check() {
        check(AppInfoParser.getVersion());
    }

    static void check(String found) {
        if (!SUPPORTED.contains(found)) {
            throw new KafkaException("kafka-clients " + found
                    + " is on the class path; this version of Millrace works with " + String.join(", ", SUPPORTED));
        }
    }
}
