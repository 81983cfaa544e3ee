package dev.millrace.race;

import dev.millrace.command.Table;
import dev.millrace.testkit.figures.RatioOfPairs;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The results of the everyday cases as one table: a row for each case, a column for each producer. */
final class EverydayTable {
    private static final String NOT_MEASURED = "–";

    /** What a cell shows. The first that fits is taken: the one whose first metric was measured. */
    private static final List<Cell> CELLS = List.of(
            new Cell(
                    "With a rate: CPU per record without that of the load; acknowledged p50 and p99; send p99.9",
                    List.of(
                            new Shown(RaceMetric.OWN_CPU_NS_PER_RECORD, " ns"),
                            new Shown(RaceMetric.ACK_P50_MS, " ms"),
                            new Shown(RaceMetric.ACK_P99_MS, " ms"),
                            new Shown(RaceMetric.SEND_P999_US, " µs"))),
            new Cell(
                    "First record: from the start of the JVM to the acknowledgement; classes loaded",
                    List.of(
                            new Shown(RaceMetric.FIRST_ACK_MS, " ms"),
                            new Shown(RaceMetric.CLASSES_LOADED, " classes"))),
            new Cell(
                    "Else: records per second; CPU per record; send p99.9",
                    List.of(
                            new Shown(RaceMetric.RECORDS_PER_S, "/s"),
                            new Shown(RaceMetric.CPU_NS_PER_RECORD, " ns"),
                            new Shown(RaceMetric.SEND_P999_US, " µs"))));

    private final Map<EverydayCase, RaceResults> cases = new LinkedHashMap<>();

    private record Shown(RaceMetric metric, String unit) {}

    private record Cell(String legend, List<Shown> parts) {}

    /** Adds a case, which was run with one number of threads. */
    void add(EverydayCase everydayCase, RaceResults results) {
        cases.put(everydayCase, results);
    }

    /** How to read it, then the table as Markdown. */
    String print() {
        Set<String> producers = new LinkedHashSet<>();
        cases.values().forEach(results -> producers.addAll(results.producers()));
        List<String> others = producers.contains(RacerJvm.MILLRACE)
                ? producers.stream()
                        .filter(producer -> !producer.equals(RacerJvm.MILLRACE))
                        .toList()
                : List.of();
        List<List<String>> rows = new ArrayList<>();
        List<String> head = new ArrayList<>(List.of("case", "what"));
        head.addAll(producers);
        others.forEach(other -> head.add("millrace / " + other));
        rows.add(head);
        cases.forEach((everydayCase, results) -> {
            List<String> row = new ArrayList<>(List.of(everydayCase.caseName(), everydayCase.description()));
            producers.forEach(producer -> row.add(figures(results, producer)));
            others.forEach(other -> row.add(ratios(results, other)));
            rows.add(row);
        });
        String legend = CELLS.stream().map(Cell::legend).collect(Collectors.joining(".\n"));
        return legend + ". Ratios in the same order, taken within a round; all are medians over the rounds, from "
                + RatioOfPairs.FEWEST + " rounds on with the 95 % interval and the worst tenth.\n\n"
                + new Table(rows, 2).markdown();
    }

    private static String figures(RaceResults results, String producer) {
        return join(cell(results).stream()
                .map(shown ->
                        results.median(producer, shown.metric).map(value -> shown.metric.show(value) + shown.unit))
                .toList());
    }

    private static String ratios(RaceResults results, String other) {
        return join(cell(results).stream()
                .map(shown -> results.ratioOfMillraceTo(other, shown.metric))
                .toList());
    }

    private static String join(List<Optional<String>> parts) {
        return parts.stream().allMatch(Optional::isEmpty)
                ? NOT_MEASURED
                : parts.stream().map(part -> part.orElse(NOT_MEASURED)).collect(Collectors.joining(", "));
    }

    private static List<Shown> cell(RaceResults results) {
        return CELLS.stream()
                .map(Cell::parts)
                .filter(parts -> results.isMeasured(parts.get(0).metric))
                .findFirst()
                .orElseThrow();
    }
}
