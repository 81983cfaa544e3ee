package dev.millrace.jmh;

import dev.millrace.command.Table;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Results as lines of text, sorted by benchmark, variant and number of threads. */
final class BenchmarkTable {
    private static final List<String> HEADER =
            List.of("benchmark", "variant", "threads", "ops/µs", "± error", "CPU ns/op", "B/op");
    private static final int TEXT_COLUMNS = 2;
    private static final String UNKNOWN = "-";

    private BenchmarkTable() {}

    static List<String> lines(Collection<BenchmarkResult> rows) {
        List<List<String>> cells = new ArrayList<>();
        cells.add(HEADER);
        rows.stream()
                .sorted(Comparator.comparing(BenchmarkResult::benchmark)
                        .thenComparing(BenchmarkResult::variant)
                        .thenComparing(BenchmarkResult::threads))
                .forEach(row -> cells.add(cells(row)));
        return new Table(cells, TEXT_COLUMNS).plain();
    }

    private static List<String> cells(BenchmarkResult row) {
        int decimals = decimals(row.opsPerUs());
        return List.of(
                row.benchmark(),
                row.variant(),
                Integer.toString(row.threads()),
                fixed(row.opsPerUs(), decimals),
                Double.isNaN(row.error()) ? UNKNOWN : "± " + fixed(row.error(), decimals),
                number(row.cpuNs()),
                number(row.bytes()));
    }

    /** With three significant digits, but at most two decimals, because less than a hundredth is noise. */
    static String number(double value) {
        return Double.isNaN(value) ? UNKNOWN : fixed(value, decimals(value));
    }

    private static int decimals(double value) {
        double size = Math.abs(value);
        return size >= 100 ? 0 : size >= 10 ? 1 : 2;
    }

    private static String fixed(double value, int decimals) {
        return String.format(Locale.ROOT, "%." + decimals + "f", value);
    }
}
