package dev.millrace.mirror;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import java.util.function.Supplier;
import org.slf4j.LoggerFactory;

/** What the tool logs, to standard error: logback.xml, and what the command line and the terminal change of it. */
final class Logs {
    private static final Logger KAFKA = (Logger) LoggerFactory.getLogger("org.apache.kafka");

    private Logs() {}

    /** On a terminal, has a log line clear the line that it takes the place of. */
    static void terse() {
        if (Terminal.isTerminal()) {
            setPattern(encoder().getPattern());
        }
    }

    /** Shows what the Kafka clients do and how they are configured (they mask passwords), and stack traces. */
    static void verbose() {
        KAFKA.setLevel(Level.INFO);
        console().setInterval(0);
        setPattern("%d{yyyy-MM-dd HH:mm:ss.SSS} %-5level [%thread] %logger{24} - %msg%n");
    }

    static boolean isVerbose() {
        return KAFKA.getLevel() == Level.INFO;
    }

    /** Runs something whose failure is reported as a whole, so that Kafka's account of each attempt would be noise. */
    static <T> T quietly(Supplier<T> task) {
        Level before = KAFKA.getLevel();
        if (!isVerbose()) {
            KAFKA.setLevel(Level.OFF);
        }
        try {
            return task.get();
        } finally {
            KAFKA.setLevel(before);
        }
    }

    private static void setPattern(String pattern) {
        PatternLayoutEncoder encoder = encoder();
        encoder.stop();
        encoder.setPattern(Terminal.isTerminal() ? Terminal.CLEAR_REST + pattern : pattern);
        encoder.start();
    }

    private static PatternLayoutEncoder encoder() {
        return (PatternLayoutEncoder) console().getEncoder();
    }

    private static LimitedConsole console() {
        Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        return (LimitedConsole) root.getAppender("console");
    }
}
