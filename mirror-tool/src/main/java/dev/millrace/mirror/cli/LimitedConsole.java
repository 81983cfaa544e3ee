package dev.millrace.mirror.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import dev.millrace.mirror.Mirror;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * The console, on which a warning comes once in a while however often it is repeated: Kafka's clients complain of a broker
 * that is away at each attempt, each of them. The next one shown tells how many were left out.
 *
 * <p>Warnings of clients are the same when they differ in numbers only, or in the client that tells; the mirror's own when
 * they do not differ at all. (Logback's {@code DuplicateMessageFilter} does not suit: it never shows a warning again, and
 * tells nobody.)
 *
 * <p><b>Threads:</b> any.
 * <p><b>Ordering:</b> a lock; who warns of something is not in a hurry.
 */
public final class LimitedConsole extends ConsoleAppender<ILoggingEvent> {
    private static final int MAX_KNOWN = 500;
    private static final String OWN = Mirror.class.getPackageName();
    /** The client, as Kafka puts it before its messages; and numbers. */
    private static final Pattern VARYING = Pattern.compile("^\\[[^]]*] |\\d+");

    private final Map<String, Repeats> known = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Repeats> eldest) {
            return size() > MAX_KNOWN;
        }
    };
    private long intervalMillis = TimeUnit.SECONDS.toMillis(30);

    private static final class Repeats {
        private long shownMillis;
        private long leftOut;
    }

    /** Shows the same warning once in so many seconds; 0: always. To be set before the first one comes. */
    public void setInterval(int seconds) {
        intervalMillis = TimeUnit.SECONDS.toMillis(seconds);
    }

    @Override
    protected void append(ILoggingEvent event) {
        if (intervalMillis == 0 || !event.getLevel().isGreaterOrEqual(Level.WARN)) {
            super.append(event);
            return;
        }
        long leftOut = countLeftOut(event);
        if (leftOut == 0) {
            super.append(event);
        } else if (leftOut > 0) {
            super.append(new LoggingEvent(
                    LimitedConsole.class.getName(),
                    ((LoggerContext) getContext()).getLogger(event.getLoggerName()),
                    event.getLevel(),
                    event.getFormattedMessage() + " (" + leftOut + " more like it not shown)",
                    null,
                    null));
        }
    }

    /** Returns how many of its kind were left out before this one, or -1 when it is to be left out, too. */
    private long countLeftOut(ILoggingEvent event) {
        String message = event.getFormattedMessage();
        String kind = event.getLoggerName() + " "
                + (event.getLoggerName().startsWith(OWN)
                        ? message
                        : VARYING.matcher(message).replaceAll(""));
        synchronized (known) {
            Repeats repeats = known.get(kind);
            if (repeats == null) {
                repeats = new Repeats();
                known.put(kind, repeats);
            } else {
                long since = event.getTimeStamp() - repeats.shownMillis;
                if (since >= 0 && since < intervalMillis) { // A clock that was set back must not silence it.
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
