package dev.millrace.mirror;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** What the demo found, as text. */
final class DemoTable {
    private DemoTable() {}

    /**
     * One run.
     *
     * @param verdict what the comparison of target and source found
     * @param exact whether they are the same, record by record
     */
    record Row(ProducerKind kind, int threads, Measurement.Figures figures, String verdict, boolean exact) {}

    static String format(List<Row> rows) {
        return line("producer", "threads", "records/s", "CPU ns/record", "send mean µs", "send p99 µs", "target is")
                + rows.stream().map(DemoTable::line).collect(Collectors.joining());
    }

    private static String line(Row row) {
        Measurement.Figures figures = row.figures();
        return line(
                row.kind().label(),
                row.threads(),
                number("%,.0f", figures.recordsPerSecond()),
                number("%,.0f", figures.cpuNanosPerRecord()),
                number("%,.2f", figures.sendMeanNanos() / 1e3),
                number("%,.1f", figures.sendP99Nanos() / 1e3),
                row.exact() ? "exact" : "WRONG: " + row.verdict());
    }

    private static String line(Object... cells) {
        return String.format(Locale.ROOT, "%-9s %7s %12s %14s %12s %11s  %s%n", cells);
    }

    private static String number(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }
}
