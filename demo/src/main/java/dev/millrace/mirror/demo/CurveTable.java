package dev.millrace.mirror.demo;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The curves as a table with a line for each number of threads and columns for each contender. */
final class CurveTable {
    private static final int FIRST_WIDTH = 7;
    private static final int GAP = 2;
    private static final int WIDEST_FIGURE = 11;

    private final DemoPlan plan;
    private final List<DemoRow> rows;
    /** Width of a column of figures, with the gap before it. */
    private final int width;

    /**
     * @param rows of each contender and each of its numbers of threads
     */
    CurveTable(DemoPlan plan, List<DemoRow> rows) {
        this.plan = plan;
        this.rows = rows;
        this.width = GAP + header().stream().mapToInt(String::length).reduce(WIDEST_FIGURE, Math::max);
    }

    /** As aligned text. */
    String format() {
        int group = width * plan.contenders().size();
        StringBuilder text = new StringBuilder()
                .append(" ".repeat(FIRST_WIDTH))
                .append(pad("records/s", group))
                .append(pad("CPU ns/record", group))
                .append(System.lineSeparator());
        line(text, "threads", header(), "target is");
        plan.threads().forEach(threads -> line(text, threads.toString(), figures(threads), verdict(threads)));
        return text.toString();
    }

    private void line(StringBuilder text, String first, List<String> figures, String verdict) {
        text.append(pad(first, FIRST_WIDTH));
        figures.forEach(figure -> text.append(pad(figure, width)));
        text.append("  ").append(verdict).append(System.lineSeparator());
    }

    private static String pad(String text, int width) {
        return " ".repeat(Math.max(0, width - text.length())) + text;
    }

    /** The names of the contenders above the figures, in their order. */
    List<String> header() {
        List<String> names = plan.contenders().stream().map(Contender::label).toList();
        return Stream.concat(names.stream(), names.stream()).toList();
    }

    /** Records per second of each contender, then CPU time per record of each; a dash for one that did not run. */
    List<String> figures(int threads) {
        List<String> figures = new ArrayList<>();
        for (ToDoubleFunction<Measurement.Figures> figure : List.<ToDoubleFunction<Measurement.Figures>>of(
                Measurement.Figures::recordsPerSecond, run -> run.cpu().process())) {
            for (Contender contender : plan.contenders()) {
                figures.add(of(threads).stream()
                        .filter(row -> row.contender() == contender)
                        .map(row -> String.format(Locale.ROOT, "%,.0f", figure.applyAsDouble(row.figures())))
                        .findFirst()
                        .orElse("-"));
            }
        }
        return figures;
    }

    /** The verdict on the targets of all contenders; with their names if the verdicts differ. */
    String verdict(int threads) {
        Map<String, List<String>> byVerdict = of(threads).stream()
                .collect(Collectors.groupingBy(
                        DemoRow::verdict,
                        LinkedHashMap::new,
                        Collectors.mapping(row -> row.contender().label(), Collectors.toList())));
        if (byVerdict.size() == 1) {
            return byVerdict.keySet().iterator().next();
        }
        return byVerdict.entrySet().stream()
                .map(entry -> String.join(", ", entry.getValue()) + " " + entry.getKey())
                .collect(Collectors.joining("; "));
    }

    private List<DemoRow> of(int threads) {
        return rows.stream().filter(row -> row.threads() == threads).toList();
    }
}
