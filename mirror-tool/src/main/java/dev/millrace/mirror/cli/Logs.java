package dev.millrace.mirror.cli;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import dev.millrace.mirror.KafkaLogs;
import org.slf4j.LoggerFactory;

/** What the tool logs, to standard error: logback.xml, and what the command line and the terminal change of it. */
public final class Logs {
    private Logs() {}

    /** On a terminal, has a log line clear the line that it takes the place of. */
    public static void configureTerse() {
        if (Terminal.isTerminal()) {
            setPattern(encoder().getPattern());
        }
    }

    /** Shows what the Kafka clients do and how they are configured (they mask passwords), and stack traces. */
    static void configureVerbose() {
        KafkaLogs.showAll();
        console().setInterval(0);
        setPattern("%d{yyyy-MM-dd HH:mm:ss.SSS} %-5level [%thread] %logger{24} - %msg%n");
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
