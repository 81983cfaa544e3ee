package dev.millrace.mirror.demo;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The results of the demo as a text table. */
final class DemoTable {
    private DemoTable() {}

    static String format(List<DemoRow> rows) {
        return line(
                        "producer",
                        "threads",
                        "records/s",
                        "CPU ns/record",
                        "compiler",
                        "source's",
                        "target's",
                        "send mean µs",
                        "send p99 µs",
                        "target is")
                + rows.stream().map(DemoTable::line).collect(Collectors.joining());
    }

    private static String line(DemoRow row) {
        Measurement.Figures figures = row.figures();
        return line(
                row.contender().label(),
                row.threads(),
                number("%,.0f", figures.recordsPerSecond()),
                number("%,.0f", figures.cpu().process()),
                number("%,.0f", figures.cpu().compiler()),
                number("%,.0f", figures.cpu().source()),
                number("%,.0f", figures.cpu().target()),
                number("%,.2f", figures.sendMeanNanos() / 1e3),
                number("%,.1f", figures.sendP99Nanos() / 1e3),
                row.verdict());
    }

    private static String line(Object... cells) {
        return String.format(Locale.ROOT, "%-21s %7s %12s %14s %9s %9s %9s %12s %11s  %s%n", cells);
    }

    private static String number(String format, double value) {
        return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, format, value);
    }
}
