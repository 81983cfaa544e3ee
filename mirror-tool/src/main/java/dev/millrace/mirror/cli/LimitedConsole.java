package dev.millrace.mirror.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import dev.millrace.mirror.http.LogEvent;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * The console, which shows a repeated warning only once per interval: while a broker is down, every Kafka client warns
 * at each attempt. The next warning shown says how many were left out.
 *
 * <p>Warnings of clients count as the same if they differ only in numbers or in the client. Those of the mirror count
 * as the same if they are equal. (Logback's {@code DuplicateMessageFilter} is no alternative: it never shows a warning
 * again, and does not count.)
 *
 * <p><b>Threads:</b> any.
 * <p><b>Ordering:</b> a lock, because warnings are rare.
 */
public final class LimitedConsole extends ConsoleAppender<ILoggingEvent> {
    private static final int MAX_KNOWN = 500;
    private static final int MAX_RECENT = 200;
    /** How the names of the loggers of the mirror itself begin. */
    private static final String OWN = "dev.millrace.mirror.";
    /** The name of the client, with which Kafka starts its messages, and numbers. */
    private static final Pattern VARYING = Pattern.compile("^\\[[^]]*] |\\d+");

    private final Map<String, Repeats> known = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Repeats> eldest) {
            return size() > MAX_KNOWN;
        }
    };
    private long intervalMillis = TimeUnit.SECONDS.toMillis(30);

    /** The last warnings shown. */
    private final Deque<LogEvent> recent = new ArrayDeque<>();

    private static final class Repeats {
        private long shownMillis;
        private long leftOut;
    }

    /** Sets the interval for repeated warnings; 0 shows all. Call it before the first warning. */
    public void setInterval(int seconds) {
        intervalMillis = TimeUnit.SECONDS.toMillis(seconds);
    }

    @Override
    protected void append(ILoggingEvent event) {
        if (!event.getLevel().isGreaterOrEqual(Level.WARN)) {
            super.append(event);
            return;
        }
        long leftOut = intervalMillis == 0 ? 0 : countLeftOut(event);
        if (leftOut == 0) {
            show(event);
        } else if (leftOut > 0) {
            show(new LoggingEvent(
                    LimitedConsole.class.getName(),
                    ((LoggerContext) getContext()).getLogger(event.getLoggerName()),
                    event.getLevel(),
                    event.getFormattedMessage() + " (" + leftOut + " more like it not shown)",
                    null,
                    null));
        }
    }

    private void show(ILoggingEvent event) {
        super.append(event);
        synchronized (recent) {
            recent.add(new LogEvent(event.getTimeStamp(), event.getLevel().toString(), event.getFormattedMessage()));
            if (recent.size() > MAX_RECENT) {
                recent.remove();
            }
        }
    }

    /** Returns the last 200 warnings and errors that were shown, the oldest first. */
    List<LogEvent> recent() {
        synchronized (recent) {
            return List.copyOf(recent);
        }
    }

    /** Returns how many equal warnings were left out before this one, or -1 to leave this one out too. */
    private long countLeftOut(ILoggingEvent event) {
        String message = event.getFormattedMessage();
        String logger = event.getLoggerName();
        String kind = logger.startsWith(OWN)
                ? logger + " " + message
                // The package is left out because our producer has a copy of Kafka's classes in other packages.
                : logger.substring(logger.lastIndexOf('.') + 1) + " "
                        + VARYING.matcher(message).replaceAll("");
        synchronized (known) {
            Repeats repeats = known.get(kind);
            if (repeats == null) {
                repeats = new Repeats();
                known.put(kind, repeats);
            } else {
                long since = event.getTimeStamp() - repeats.shownMillis;
                if (since >= 0 && since < intervalMillis) { // This is negative after the clock was set back.
                    repeats.leftOut++;
                    return -1;
                }
            }
            long leftOut = repeats.leftOut;
            repeats.leftOut = 0;
            repeats.shownMillis = event.getTimeStamp();
            return leftOut;
        }
    }
}
