package dev.millrace.mirror;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/** The curves as a table: a line for each number of threads, in it each contender. */
final class CurveTable {
    private static final int FIRST_WIDTH = 7;
    private static final int WIDTH = 13;

    private final DemoPlan plan;
    private final List<DemoRow> rows;

    /**
     * @param rows of each contender and number of threads of the plan
     */
    CurveTable(DemoPlan plan, List<DemoRow> rows) {
        this.plan = plan;
        this.rows = rows;
    }

    /** As aligned text. */
    String format() {
        int group = WIDTH * plan.contenders().size();
        StringBuilder text = new StringBuilder()
                .append(" ".repeat(FIRST_WIDTH))
                .append(pad("records/s", group))
                .append(pad("CPU ns/record", group))
                .append(System.lineSeparator());
        line(text, "threads", header(), "target is");
        plan.threads().forEach(threads -> line(text, threads.toString(), figures(threads), verdict(threads)));
        return text.toString();
    }

    private static void line(StringBuilder text, String first, List<String> figures, String verdict) {
        text.append(pad(first, FIRST_WIDTH));
        figures.forEach(figure -> text.append(pad(figure, WIDTH)));
        text.append("  ").append(verdict).append(System.lineSeparator());
    }

    private static String pad(String text, int width) {
        return " ".repeat(Math.max(0, width - text.length())) + text;
    }

    /** Whose the figures are, in their order. */
    List<String> header() {
        List<String> names = plan.contenders().stream().map(Contender::label).toList();
        return Stream.concat(names.stream(), names.stream()).toList();
    }

    /** Records a second of each contender, and then CPU per record of each. */
    List<String> figures(int threads) {
        List<String> figures = new ArrayList<>();
        for (ToDoubleFunction<Measurement.Figures> figure : List.<ToDoubleFunction<Measurement.Figures>>of(
                Measurement.Figures::recordsPerSecond, Measurement.Figures::cpuNanosPerRecord)) {
            for (DemoRow row : of(threads)) {
                figures.add(String.format(Locale.ROOT, "%,.0f", figure.applyAsDouble(row.figures())));
            }
        }
        return figures;
    }

    /** What the targets of all contenders are; each is named where they differ. */
    String verdict(int threads) {
        Set<String> verdicts = new LinkedHashSet<>();
        of(threads).forEach(row -> verdicts.add(row.verdict()));
        if (verdicts.size() == 1) {
            return verdicts.iterator().next();
        }
        return String.join(
                "; ",
                of(threads).stream()
                        .map(row -> row.contender().label() + " " + row.verdict())
                        .toList());
    }

    private List<DemoRow> of(int threads) {
        return rows.stream().filter(row -> row.threads() == threads).toList();
    }
}
