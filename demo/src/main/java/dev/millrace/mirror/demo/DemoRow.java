package dev.millrace.mirror.demo;

import dev.millrace.testkit.figures.RatioOfPairs;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The result for one contender and number of threads (of MirrorMaker: streams or tasks), of one run or of the runs of all rounds.
 *
 * @param verdict the result of the comparison of target and source, in words
 * @param isRight whether the target has what the contender promises
 */
record DemoRow(Contender contender, int threads, Measurement.Figures figures, String verdict, boolean isRight) {
    /** One row for each contender and number of threads, in the plan's order, with medians and the worst verdict. */
    static List<DemoRow> medians(DemoPlan plan, List<DemoRow> all) {
        List<DemoRow> medians = new ArrayList<>();
        for (Contender contender : plan.contenders()) {
            for (int threads : plan.threads(contender)) {
                medians.add(median(rounds(all, contender, threads)));
            }
        }
        return medians;
    }

    /** The rows of a contender with so many threads, a round each. */
    static List<DemoRow> rounds(List<DemoRow> all, Contender contender, int threads) {
        return all.stream()
                .filter(row -> row.contender == contender && row.threads == threads)
                .toList();
    }

    private static DemoRow median(List<DemoRow> rounds) {
        DemoRow worst = rounds.stream().filter(row -> !row.isRight).findFirst().orElse(rounds.get(0));
        List<Measurement.Figures> figures =
                rounds.stream().map(DemoRow::figures).toList();
        return new DemoRow(
                worst.contender,
                worst.threads,
                new Measurement.Figures(
                        median(figures, Measurement.Figures::recordsPerSecond),
                        new CpuPerRecord(
                                median(figures, run -> run.cpu().process()),
                                median(figures, run -> run.cpu().compiler()),
                                median(figures, run -> run.cpu().source()),
                                median(figures, run -> run.cpu().target())),
                        median(figures, Measurement.Figures::sendMeanNanos),
                        median(figures, Measurement.Figures::sendP99Nanos)),
                worst.verdict,
                worst.isRight);
    }

    private static double median(List<Measurement.Figures> figures, Function<Measurement.Figures, Double> value) {
        return RatioOfPairs.median(figures.stream().map(value).toList());
    }
}
