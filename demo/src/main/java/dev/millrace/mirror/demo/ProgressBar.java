package dev.millrace.mirror.demo;

import dev.millrace.mirror.cli.Terminal;
import java.io.PrintStream;
import java.util.Locale;

/**
 * The progress of one step of the demo: a bar on a terminal, otherwise a line when the step is done.
 *
 * <p><b>Threads:</b> one.
 */
final class ProgressBar implements AutoCloseable {
    private static final int WIDTH = 20; // With the label and the percentage it fits into 80 columns.

    private final PrintStream out;
    private final String label;
    private final long total;
    private final long startNanos = System.nanoTime();
    private int shown = -1;

    /**
     * @param total the value of {@link #update} when the step is done
     */
    ProgressBar(PrintStream out, String label, long total) {
        this.out = out;
        this.label = label;
        this.total = total;
        update(0);
    }

    void update(long done) {
        int percent = (int) Math.min(100, 100 * done / total);
        if (Terminal.isTerminal() && percent != shown) {
            shown = percent;
            int full = WIDTH * percent / 100;
            Terminal.rewrite(
                    out,
                    String.format(
                            Locale.ROOT,
                            "%-50s [%s%s] %3d %%",
                            label,
                            "#".repeat(full),
                            " ".repeat(WIDTH - full),
                            percent));
        }
    }

    /** Prints a line with the time that the step took. */
    @Override
    public void close() {
        String line = String.format(Locale.ROOT, "%-50s %5.1f s", label, (System.nanoTime() - startNanos) / 1e9);
        if (Terminal.isTerminal()) {
            Terminal.rewrite(out, line);
        } else {
            out.print(line);
        }
        out.println();
    }
}
