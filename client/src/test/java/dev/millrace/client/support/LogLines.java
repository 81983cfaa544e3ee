package dev.millrace.client.support;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.LoggerFactory;

/** What loggers write until this is closed; any thread may write and read. */
public final class LogLines implements AutoCloseable {
    private final Queue<ILoggingEvent> events = new ConcurrentLinkedQueue<>();
    private final Logger logger;
    private final Level levelBefore;
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            events.add(event);
        }
    };

    /** Of the logger of this name, and those below it, from {@code level} on. */
    public LogLines(String name, Level level) {
        logger = (Logger) LoggerFactory.getLogger(name);
        levelBefore = logger.getLevel();
        logger.setLevel(level);
        appender.start();
        logger.addAppender(appender);
    }

    /** Level, message and exception of each line whose message contains {@code text}, as "WARN message | exception". */
    public List<String> with(String text) {
        return events.stream()
                .filter(event -> event.getFormattedMessage().contains(text))
                .map(LogLines::line)
                .toList();
    }

    private static String line(ILoggingEvent event) {
        String thrown = event.getThrowableProxy() == null
                ? ""
                : " | " + event.getThrowableProxy().getClassName();
        return event.getLevel() + " " + event.getFormattedMessage() + thrown;
    }

    @Override
    public void close() {
        logger.detachAppender(appender);
        logger.setLevel(levelBefore);
    }
}
