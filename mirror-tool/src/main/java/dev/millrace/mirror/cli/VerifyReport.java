package dev.millrace.mirror.cli;

import dev.millrace.mirror.text.Words;
import dev.millrace.mirror.verify.VerifyObserver;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Shows the progress of a verification: on a terminal in one rewritten line, otherwise in log lines. */
final class VerifyReport implements VerifyObserver {
    private static final Logger LOG = LoggerFactory.getLogger(VerifyReport.class);

    private final PrintStream out;
    private final Duration interval;
    private long lastNanos = System.nanoTime();
    private long lastRecords;

    /**
     * @param interval between two lines, in whole seconds; zero for none
     */
    VerifyReport(PrintStream out, Duration interval) {
        this.out = out;
        this.interval = interval;
    }

    @Override
    public void onProgress(int compared, int partitions, long records) {
        long now = System.nanoTime();
        if (interval.isZero() || now - lastNanos < interval.toNanos()) {
            return;
        }
        String line = String.format(
                Locale.ROOT,
                "%,d of %s | %s read | %,.0f/s",
                compared,
                Words.count(partitions, "partition"),
                Words.count(records, "record"),
                (records - lastRecords) * 1e9 / (now - lastNanos));
        if (Terminal.isTerminal()) {
            Terminal.rewrite(out, line);
        } else {
            LOG.info(line);
        }
        lastNanos = now;
        lastRecords = records;
    }

    /** Removes the status line. */
    void onFinished() {
        if (Terminal.isTerminal()) {
            Terminal.rewrite(out, "");
        }
    }
}
