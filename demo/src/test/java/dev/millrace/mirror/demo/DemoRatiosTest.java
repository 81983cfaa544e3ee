package dev.millrace.mirror.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class DemoRatiosTest {
    @Test
    void shouldDivideByTheFirstContenderInTheSameRound() {
        List<Contender> contenders = List.of(Contender.STOCK, Contender.MILLRACE_AUTO, Contender.MIRRORMAKER2);
        DemoPlan plan = new DemoPlan(new DemoLoad(1_000_000, 100), List.of(1, 32), contenders, 2);

        String table = DemoRatios.format(
                plan,
                List.of(
                        row(Contender.STOCK, 1, 100),
                        row(Contender.MILLRACE_AUTO, 1, 200),
                        row(Contender.STOCK, 32, 100),
                        row(Contender.MILLRACE_AUTO, 32, 500),
                        row(Contender.MIRRORMAKER2, 4, 50),
                        row(Contender.MILLRACE_AUTO, 1, 1_000),
                        row(Contender.STOCK, 1, 250),
                        row(Contender.MIRRORMAKER2, 4, 50),
                        row(Contender.MILLRACE_AUTO, 32, 500),
                        row(Contender.STOCK, 32, 100)));

        assertThat(table.lines().map(line -> line.replaceAll("\\s+", " ")))
                .containsExactly(
                        "",
                        "Divided by the figures of stock in the same round: median (95 % interval of the median; worst tenth of"
                                + " the rounds)",
                        "",
                        "producer threads records/s CPU",
                        "millrace-auto 1 3.00 (2.00 to 4.00; 2.20) 0.38 (0.25 to 0.50; 0.48)",
                        "millrace-auto 32 5.00 (5.00 to 5.00; 5.00) 0.20 (0.20 to 0.20; 0.20)",
                        "mirrormaker2 4 0.50 (0.50 to 0.50; 0.50) 2.00 (2.00 to 2.00; 2.00)");
    }

    @Test
    void shouldSayNothingOfOneContender() {
        DemoPlan plan = new DemoPlan(new DemoLoad(1_000_000, 100), List.of(1), List.of(Contender.STOCK), 1);

        assertThat(DemoRatios.format(plan, List.of(row(Contender.STOCK, 1, 100))))
                .isEmpty();
    }

    /** The CPU of a record is one second divided by the speed. */
    private static DemoRow row(Contender contender, int threads, double recordsPerSecond) {
        CpuPerRecord cpu = new CpuPerRecord(1e9 / recordsPerSecond, Double.NaN);
        return new DemoRow(
                contender,
                threads,
                new Measurement.Figures(recordsPerSecond, cpu, Double.NaN, Double.NaN),
                "exact",
                true);
    }
}
