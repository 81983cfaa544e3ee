package dev.millrace.mirror;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import java.util.function.Supplier;
import org.slf4j.LoggerFactory;

/** The log of the Kafka clients. */
public final class KafkaLogs {
    private static final Logger KAFKA = (Logger) LoggerFactory.getLogger("org.apache.kafka");

    private KafkaLogs() {}

    /** Shows what the Kafka clients do and how they are configured; they mask passwords. */
    public static void showAll() {
        KAFKA.setLevel(Level.INFO);
    }

    /** Whether {@link #showAll} was called. */
    public static boolean isShowingAll() {
        return KAFKA.getLevel() == Level.INFO;
    }

    /**
     * Runs a task while the clients log nothing, unless {@link #showAll} was called. For a task whose failure is
     * reported once, so that a message per attempt would be noise.
     */
    public static <T> T callSilently(Supplier<T> task) {
        Level before = KAFKA.getLevel();
        if (!isShowingAll()) {
            KAFKA.setLevel(Level.OFF);
        }
        try {
            return task.get();
        } finally {
            KAFKA.setLevel(before);
        }
    }
}
