package dev.millrace.mirror.demo;

import dev.millrace.testkit.figures.RatioOfPairs;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * The figures of each contender divided by those of the first one in the same round, as a text table. What changes on the
 * machine from round to round changes both.
 */
final class DemoRatios {
    private DemoRatios() {}

    /**
     * Returns the table; nothing if no other contender runs beside the first.
     *
     * @param runs all of the plan, in their order
     */
    static String format(DemoPlan plan, List<DemoRow> runs) {
        Contender first = plan.contenders().get(0);
        List<String> lines = new ArrayList<>();
        for (Contender other : plan.contenders().subList(1, plan.contenders().size())) {
            for (int asked : plan.threads()) {
                if (plan.runsWith(first, asked) && plan.runsWith(other, asked)) {
                    List<DemoRow> ours = DemoRow.rounds(runs, other, other.threads(asked));
                    List<DemoRow> theirs = DemoRow.rounds(runs, first, first.threads(asked));
                    lines.add(line(
                            other.label(),
                            other.threads(asked),
                            ratio(ours, theirs, Measurement.Figures::recordsPerSecond, true),
                            ratio(ours, theirs, figures -> figures.cpu().process(), false)));
                }
            }
        }
        if (lines.isEmpty()) {
            return "";
        }
        return String.format(
                        "%nDivided by the figures of %s in the same round: median (95 %% interval of the median; worst tenth"
                                + " of the rounds)%n%n",
                        first.label())
                + line("producer", "threads", "records/s", "CPU")
                + String.join("", lines);
    }

    private static String ratio(
            List<DemoRow> ours,
            List<DemoRow> theirs,
            Function<Measurement.Figures, Double> figure,
            boolean isMoreBetter) {
        return RatioOfPairs.of(RatioOfPairs.divide(figures(ours, figure), figures(theirs, figure)), isMoreBetter)
                .toString();
    }

    private static List<Double> figures(List<DemoRow> rows, Function<Measurement.Figures, Double> figure) {
        return rows.stream().map(DemoRow::figures).map(figure).toList();
    }

    private static String line(Object... cells) {
        return String.format(Locale.ROOT, "%-21s %7s  %-28s  %s%n", cells);
    }
}
