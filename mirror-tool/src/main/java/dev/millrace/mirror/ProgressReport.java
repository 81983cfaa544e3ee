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
final class ProgressReport implements MirrorObserver {
    private static final Logger LOG = LoggerFactory.getLogger(ProgressReport.class);
    private static final long LOG_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final MirrorConfig config;
    private final PrintStream out;
    private long startNanos;
    private long lastNanos;
    private ThreadCounters.Totals last = ThreadCounters.Totals.NONE;

    ProgressReport(MirrorConfig config, PrintStream out) {
        this.config = config;
        this.out = out;
    }

    @Override
    public void started(Set<String> topics) {
        LOG.info(
                "Mirroring {} with {} threads and the {} producer",
                topics.size() == 1 ? "topic " + topics.iterator().next() : topics.size() + " topics",
                config.threads(),
                config.kind().label());
        startNanos = System.nanoTime();
        lastNanos = startNanos;
    }

    @Override
    public void progress(ThreadCounters.Totals totals) {
        long now = System.nanoTime();
        if (Terminal.isTerminal()) {
            Terminal.rewrite(out, line(totals, now));
        } else if (now - lastNanos < LOG_INTERVAL_NANOS) {
            return;
        } else {
            LOG.info(line(totals, now));
        }
        last = totals;
        lastNanos = now;
    }

    @Override
    public void finished(ThreadCounters.Totals totals) {
        if (Terminal.isTerminal()) {
            Terminal.rewrite(out, "");
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
                "%,d records | %,.0f/s | %,.1f MB/s | %,d in flight | %s",
                totals.acked(),
                (totals.acked() - last.acked()) / interval,
                (totals.bytes() - last.bytes()) / interval / 1e6,
                totals.inFlight(),
                lag(totals));
    }

    static String lag(ThreadCounters.Totals totals) {
        if (totals.lagKnown()) {
            return String.format(Locale.ROOT, "lag %,d", totals.lag());
        }
        return totals.lag() == 0 ? "lag unknown" : String.format(Locale.ROOT, "lag at least %,d", totals.lag());
    }

    private static double seconds(long nanos) {
        return nanos / 1e9;
    }
}
