package dev.millrace.mirror;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.OutputStreamAppender;
import java.util.function.Supplier;
import org.slf4j.LoggerFactory;

/** What the tool logs, to standard error: logback.xml, and what the command line changes of it. */
final class Logs {
    private static final Logger KAFKA = (Logger) LoggerFactory.getLogger("org.apache.kafka");

    private Logs() {}

    /** Shows what the Kafka clients do and how they are configured (they mask passwords), and stack traces. */
    static void verbose() {
        KAFKA.setLevel(Level.INFO);
        Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        OutputStreamAppender<ILoggingEvent> console = (OutputStreamAppender<ILoggingEvent>) root.getAppender("console");
        PatternLayoutEncoder encoder = (PatternLayoutEncoder) console.getEncoder();
        encoder.stop();
        encoder.setPattern("%d{HH:mm:ss.SSS} %-5level [%thread] %logger{24} - %msg%n");
        encoder.start();
    }

    /** Runs something whose failure is reported as a whole, so that Kafka's account of each attempt would be noise. */
    static <T> T quietly(Supplier<T> task) {
        Level before = KAFKA.getLevel();
        if (before != Level.INFO) {
            KAFKA.setLevel(Level.OFF);
        }
        try {
            return task.get();
        } finally {
            KAFKA.setLevel(before);
        }
    }
}
