package dev.millrace.mirror.cli;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import dev.millrace.mirror.cluster.KafkaLogs;
import dev.millrace.mirror.http.LogEvent;
import java.util.List;
import org.slf4j.LoggerFactory;

/** Adjusts the log that logback.xml configures to the command line and the terminal. */
public final class Logs {
    private Logs() {}

    /** Prepares the log of a command that has {@code --verbose}. */
    static void configure(boolean isVerbose) {
        if (isVerbose) {
            configureVerbose();
        } else {
            configureTerse();
        }
    }

    /** Prepares the normal, terse log: on a terminal a log line clears the status line that it replaces. */
    public static void configureTerse() {
        if (Terminal.isTerminal()) {
            setPattern(encoder().getPattern());
        }
    }

    /**
     * Shows everything that the Kafka clients log, with their configurations (they mask passwords), and stack traces.
     */
    private static void configureVerbose() {
        KafkaLogs.showAll();
        console().setInterval(0);
        setPattern("%d{yyyy-MM-dd HH:mm:ss.SSS} %-5level [%thread] %logger{24} - %msg%n");
    }

    /** Returns the last warnings and errors that the log has shown, the oldest first. */
    static List<LogEvent> recentWarnings() {
        return console().recent();
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
