package dev.millrace.jmh;

import dev.millrace.command.Table;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What was measured on some numbers of cores, beside what {@link ScalingModel} says for these and for more. The shared
 * part is fitted to one core and to most cores with a single place, the other part to one core with as many places; all
 * else is prediction.
 */
final class ScalingTable {
    /** What is measured: a counterpart of each kind. */
    static final List<Subject> SUBJECTS = List.of(
            new Subject("Append", "millrace", "partitions", List.of(1, 32), false),
            new Subject("Append", "kafka431", "partitions", List.of(1, 32), true),
            new Subject("Metadata", "kafka440", "topics", List.of(1), true));

    /** The model is also shown for numbers of cores that few have. */
    private static final List<Integer> MORE_CORES = List.of(8, 32, 64);

    private static final int MORE_PARTITIONS = 1_000;
    private static final List<String> HEADER =
            List.of("benchmark", "variant", "alone ns", "cores", "ops/µs", "± error", "model");
    private static final int TEXT_COLUMNS = 2;

    private ScalingTable() {}

    /**
     * A benchmark and a variant.
     *
     * @param parameter whose value is how many places the cores share
     * @param isLock as in {@link ScalingModel}
     */
    record Subject(String benchmark, String variant, String parameter, List<Integer> places, boolean isLock) {
        /** A regular expression of JMH for the method. */
        String method() {
            return benchmark + "Benchmark." + variant + "$";
        }

        private String name(int given) {
            return benchmark + " " + parameter + "=" + given;
        }

        private BenchmarkResult find(Collection<BenchmarkResult> results, int given) {
            return results.stream()
                    .filter(result -> result.variant().equals(variant)
                            && result.benchmark().equals(name(given)))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException(name(given) + " was not measured"));
        }
    }

    /**
     * Returns the table, and before it the shared part of each model.
     *
     * @param results by the number of cores; 1 and another are among them
     */
    static List<String> lines(Map<Integer, Collection<BenchmarkResult>> results) {
        TreeMap<Integer, Collection<BenchmarkResult>> measured = new TreeMap<>(results);
        List<String> lines = new ArrayList<>();
        List<List<String>> cells = new ArrayList<>();
        cells.add(HEADER);
        for (Subject subject : SUBJECTS) {
            int most = measured.lastKey();
            ScalingModel model = ScalingModel.fit(
                    subject.isLock,
                    subject.find(measured.get(1), 1).opsPerUs(),
                    subject.find(measured.get(most), 1).opsPerUs(),
                    most);
            lines.add(subject.benchmark + " " + subject.variant + ": a core has "
                    + (subject.isLock ? "a lock" : "the shared cache lines") + " to itself for "
                    + BenchmarkTable.number(model.sharedNs()) + " ns");
            for (int places : subject.places) {
                model = model.withOneCore(subject.find(measured.get(1), places).opsPerUs());
                addRows(cells, subject, places, model, measured);
            }
            if (subject.places.size() > 1) {
                addRows(cells, subject, MORE_PARTITIONS, model, Map.of());
            }
        }
        lines.add("");
        lines.addAll(new Table(cells, TEXT_COLUMNS).plain());
        return lines;
    }

    private static void addRows(
            List<List<String>> cells,
            Subject subject,
            int places,
            ScalingModel model,
            Map<Integer, Collection<BenchmarkResult>> measured) {
        TreeSet<Integer> cores = new TreeSet<>(MORE_CORES);
        cores.addAll(measured.keySet());
        for (int n : cores) {
            BenchmarkResult result = measured.containsKey(n) ? subject.find(measured.get(n), places) : null;
            cells.add(List.of(
                    subject.name(places),
                    subject.variant,
                    BenchmarkTable.number(model.aloneNs()),
                    Integer.toString(n),
                    result == null ? "-" : BenchmarkTable.number(result.opsPerUs()),
                    result == null ? "-" : "± " + BenchmarkTable.number(result.error()),
                    BenchmarkTable.number(model.opsPerUs(n, places))));
        }
    }
}
