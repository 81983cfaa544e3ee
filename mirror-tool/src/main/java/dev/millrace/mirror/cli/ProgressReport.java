package dev.millrace.mirror.cli;

import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.status.MirrorObserver;
import dev.millrace.mirror.status.MirrorTotals;
import dev.millrace.mirror.text.Words;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shows the progress of a mirror: on a terminal in one rewritten line, otherwise in log lines.
 *
 * <p><b>Threads:</b> the thread that runs the mirror.
 */
final class ProgressReport implements MirrorObserver {
    private static final Logger LOG = LoggerFactory.getLogger(ProgressReport.class);

    private final MirrorConfig config;
    private final PrintStream out;
    private final Duration interval;
    private long startNanos;
    private long lastNanos;
    private MirrorTotals last = MirrorTotals.NONE;

    /**
     * @param interval between two lines, in whole seconds; zero for none
     */
    ProgressReport(MirrorConfig config, PrintStream out, Duration interval) {
        this.config = config;
        this.out = out;
        this.interval = interval;
    }

    @Override
    public void onStarted(Set<String> topics) {
        LOG.info(
                "Mirroring {} with {} and the {} producer",
                topics.size() == 1 ? "topic " + topics.iterator().next() : Words.count(topics.size(), "topic"),
                Words.count(config.threads(), "thread"),
                config.producerKind());
        startNanos = System.nanoTime();
        lastNanos = startNanos;
    }

    @Override
    public void onProgress(MirrorTotals totals, double catchUpSeconds) {
        long now = System.nanoTime();
        if (interval.isZero() || now - lastNanos < interval.toNanos()) {
            return;
        }
        if (Terminal.isTerminal()) {
            Terminal.rewrite(out, line(totals, catchUpSeconds, now));
        } else {
            LOG.info(line(totals, catchUpSeconds, now));
        }
        last = totals;
        lastNanos = now;
    }

    @Override
    public void onFinished(MirrorTotals totals) {
        if (Terminal.isTerminal()) {
            Terminal.rewrite(out, "");
        }
        LOG.info(String.format(
                Locale.ROOT,
                "Mirrored %s in %.1f s; %,d sent but not acknowledged",
                Words.count(totals.acked(), "record"),
                seconds(System.nanoTime() - startNanos),
                totals.inFlight()));
    }

    private String line(MirrorTotals totals, double catchUpSeconds, long now) {
        double seconds = Math.max(seconds(now - lastNanos), 1e-3);
        return String.format(
                Locale.ROOT,
                // The most important figure comes first, because a narrow terminal cuts off the end.
                "%s | %s | %,.0f/s | %,.1f MB/s | %,d in flight",
                Words.count(totals.acked(), "record"),
                lag(totals) + (catchUpSeconds > 0 ? ", caught up in " + Words.duration(catchUpSeconds) : ""),
                (totals.acked() - last.acked()) / seconds,
                (totals.bytes() - last.bytes()) / seconds / 1e6,
                totals.inFlight());
    }

    static String lag(MirrorTotals totals) {
        if (totals.isLagKnown()) {
            return String.format(Locale.ROOT, "lag %,d", totals.lag());
        }
        return totals.lag() == 0 ? "lag unknown" : String.format(Locale.ROOT, "lag at least %,d", totals.lag());
    }

    private static double seconds(long nanos) {
        return nanos / 1e9;
    }
}
