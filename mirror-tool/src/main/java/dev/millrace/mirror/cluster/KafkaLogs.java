package dev.millrace.mirror.cluster;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.LoggerFactory;

/** Configures the logs of kafka-clients and of Millrace's private copy of its internal classes. */
public final class KafkaLogs {
    private static final Logger PUBLISHED = logger("org.apache.kafka");
    private static final List<Logger> ALL =
            List.of(PUBLISHED, logger("dev.millrace.kafka"), logger("dev.millrace.client.io.AnswerHandler"));

    private KafkaLogs() {}

    private static Logger logger(String name) {
        return (Logger) LoggerFactory.getLogger(name);
    }

    /** Shows what the Kafka clients do and how they are configured; they mask passwords. */
    public static void showAll() {
        setLevel(Level.INFO);
    }

    /** Whether {@link #showAll} was called. */
    public static boolean isShowingAll() {
        return PUBLISHED.getLevel() == Level.INFO;
    }

    /**
     * Runs a task while the clients log nothing, unless {@link #showAll} was called. For a task whose failure is
     * reported once, so that a message per attempt would be noise.
     */
    public static <T> T callSilently(Supplier<T> task) {
        List<Level> before = ALL.stream().map(Logger::getLevel).toList();
        if (!isShowingAll()) {
            setLevel(Level.OFF);
        }
        try {
            return task.get();
        } finally {
            for (int i = 0; i < before.size(); i++) {
                ALL.get(i).setLevel(before.get(i));
            }
        }
    }

    private static void setLevel(Level level) {
        ALL.forEach(logger -> logger.setLevel(level));
    }
}
