package dev.millrace.mirror.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.demo.DemoPlan.Run;
import java.util.List;
import org.junit.jupiter.api.Test;

class DemoPlanTest {
    private static final List<Contender> TWO = List.of(Contender.STOCK, Contender.MILLRACE_CONSUMER);

    @Test
    void shouldDoubleThreadsUpToTheMost() {
        assertThat(DemoPlan.doublings(32)).containsExactly(1, 2, 4, 8, 16, 32);
        assertThat(DemoPlan.doublings(12)).containsExactly(1, 2, 4, 8, 12);
        assertThat(DemoPlan.doublings(1)).containsExactly(1);
        assertThat(DemoPlan.oneAndMost(1)).containsExactly(1);
        assertThat(DemoPlan.oneAndMost(32)).containsExactly(1, 32);
    }

    @Test
    void shouldLetContendersBeginInTurn() {
        assertThat(new DemoPlan(new DemoLoad(1, 100), List.of(1, 2), TWO, 2).runs())
                .containsExactly(
                        new Run(Contender.STOCK, 1),
                        new Run(Contender.MILLRACE_CONSUMER, 1),
                        new Run(Contender.MILLRACE_CONSUMER, 2),
                        new Run(Contender.STOCK, 2),
                        new Run(Contender.MILLRACE_CONSUMER, 1),
                        new Run(Contender.STOCK, 1),
                        new Run(Contender.STOCK, 2),
                        new Run(Contender.MILLRACE_CONSUMER, 2));
    }

    @Test
    void shouldRunMirrorMaker2OnceARoundWithAtMostFourTasks() {
        List<Contender> contenders = List.of(Contender.STOCK, Contender.MIRRORMAKER2);

        assertThat(new DemoPlan(new DemoLoad(1, 100), List.of(1, 32), contenders, 2).runs())
                .containsExactly(
                        new Run(Contender.STOCK, 1),
                        new Run(Contender.MIRRORMAKER2, 4),
                        new Run(Contender.STOCK, 32),
                        new Run(Contender.STOCK, 1),
                        new Run(Contender.STOCK, 32),
                        new Run(Contender.MIRRORMAKER2, 4));
        assertThat(new DemoPlan(new DemoLoad(1, 100), List.of(1, 2), contenders, 1).threads(Contender.MIRRORMAKER2))
                .containsExactly(2);
    }

    @Test
    void shouldRunMillraceInTheModesThatAreWanted() {
        assertThat(ContenderName.MILLRACE.contenders(List.of(CopyMode.BATCHES, CopyMode.CONSUMER)))
                .containsExactly(Contender.MILLRACE_BATCHES, Contender.MILLRACE_CONSUMER);
        assertThat(ContenderName.STOCK.contenders(List.of(CopyMode.BATCHES))).containsExactly(Contender.STOCK);
        assertThat(Contender.MILLRACE_AUTO.options()).containsExactly("--producer=millrace", "--mode=auto");
        assertThat(Contender.STOCK.options()).containsExactly("--producer=stock", "--mode=consumer");
        assertThat(Contender.MILLRACE_EXACTLY_ONCE.options())
                .containsExactly("--producer=millrace", "--mode=auto", "--resume=exactly-once");
        assertThat(Contender.MIRRORMAKER2.options()).isEmpty();
    }

    @Test
    void shouldTellHowLongItMayTake() {
        assertThat(new DemoPlan(new DemoLoad(2_000_000, 100), DemoPlan.oneAndMost(32), TWO, 1).estimate())
                .isEqualTo("4 runs of 2,000,000 records: about 70 seconds on two idle cores");
        assertThat(new DemoPlan(new DemoLoad(2_000_000, 100), DemoPlan.doublings(32), TWO, 3).estimate())
                .isEqualTo("36 runs of 2,000,000 records: about 8 minutes on two idle cores");
    }

    @Test
    void shouldTakeMediansOfRoundsAndTheWorstVerdict() {
        DemoPlan plan = new DemoPlan(new DemoLoad(100, 100), List.of(1), TWO, 3);

        List<DemoRow> rows = DemoRow.medians(
                plan,
                List.of(
                        row(Contender.MILLRACE_CONSUMER, 5, "exact", true),
                        row(Contender.STOCK, 9, "exact", true),
                        row(Contender.STOCK, 7, "WRONG: 1 lost", false),
                        row(Contender.MILLRACE_CONSUMER, 3, "exact", true),
                        row(Contender.STOCK, 80, "exact", true),
                        row(Contender.MILLRACE_CONSUMER, 4, "exact", true)));

        assertThat(rows)
                .containsExactly(
                        row(Contender.STOCK, 9, "WRONG: 1 lost", false),
                        row(Contender.MILLRACE_CONSUMER, 4, "exact", true));
    }

    @Test
    void shouldTakeTheMiddleOfTwoRounds() {
        DemoPlan plan = new DemoPlan(new DemoLoad(100, 100), List.of(1), List.of(Contender.STOCK), 2);

        assertThat(DemoRow.medians(
                        plan,
                        List.of(row(Contender.STOCK, 10, "exact", true), row(Contender.STOCK, 20, "exact", true))))
                .containsExactly(row(Contender.STOCK, 15, "exact", true));
    }

    private static DemoRow row(Contender contender, long nanos, String verdict, boolean isRight) {
        return new DemoRow(
                contender,
                1,
                new Measurement.Figures(nanos, new CpuPerRecord(2 * nanos, nanos, nanos, nanos), nanos, nanos),
                verdict,
                isRight);
    }
}
