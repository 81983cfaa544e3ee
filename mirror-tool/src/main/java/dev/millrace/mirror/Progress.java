package dev.millrace.mirror;

import java.io.PrintStream;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells how a mirror gets on: on a terminal in one line that is rewritten, otherwise in a log line now and then.
 *
 * <p><b>Threads:</b> the one that runs the mirror.
 */
final class Progress {
    private static final Logger LOG = LoggerFactory.getLogger(Progress.class);
    private static final long LOG_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final int WIDTH = 100;

    private final boolean terminal;
    private final PrintStream out;
    private long startNanos;
    private long lastNanos;
    private ThreadCounters.Totals last = ThreadCounters.Totals.NONE;

    /**
     * @param terminal whether {@code out} is one
     */
    Progress(boolean terminal, PrintStream out) {
        this.terminal = terminal;
        this.out = out;
    }

    void started(Set<String> topics, MirrorConfig config) {
        LOG.info(
                "Mirroring {} with {} threads and the {} producer",
                topics.size() == 1 ? "topic " + topics.iterator().next() : topics.size() + " topics",
                config.threads(),
                config.kind().name().toLowerCase(Locale.ROOT));
        startNanos = System.nanoTime();
        lastNanos = startNanos;
    }

    /** Takes the totals so far; called about once a second. */
    void update(ThreadCounters.Totals totals) {
        long now = System.nanoTime();
        if (terminal) {
            out.printf("%-" + WIDTH + "s\r", line(totals, now));
            out.flush();
        } else if (now - lastNanos < LOG_INTERVAL_NANOS) {
            return;
        } else {
            LOG.info(line(totals, now));
        }
        last = totals;
        lastNanos = now;
    }

    void finished(ThreadCounters.Totals totals) {
        if (terminal) {
            out.printf("%-" + WIDTH + "s\r", "");
        }
        LOG.info(String.format(
                Locale.ROOT,
                "Mirrored %,d records in %.1f s; %,d sent but not acknowledged",
                totals.acked(),
                seconds(System.nanoTime() - startNanos),
                totals.inFlight()));
    }

    private String line(ThreadCounters.Totals totals, long now) {
        double interval = Math.max(seconds(now - lastNanos), 1e-3);
        return String.format(
                Locale.ROOT,
                "%,d records | %,.0f/s | %,.1f MB/s | %,d in flight | lag %,d",
                totals.acked(),
                (totals.acked() - last.acked()) / interval,
                (totals.bytes() - last.bytes()) / interval / 1e6,
                totals.inFlight(),
                totals.lag());
    }

    private static double seconds(long nanos) {
        return nanos / 1e9;
    }
}
