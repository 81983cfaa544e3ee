package dev.millrace.mirror.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class DemoTableTest {
    @Test
    void shouldShowOneLineForEachRunAndWhatIsWrong() {
        Measurement.Figures figures = new Measurement.Figures(2_000_000, 1_500, 1_234, 9_876);
        Measurement.Figures untimed = new Measurement.Figures(1_000_000, 1_500, Double.NaN, Double.NaN);

        String table = DemoTable.format(List.of(
                new DemoRow(Contender.STOCK, 1, figures, "exact", true),
                new DemoRow(Contender.MILLRACE, 32, figures, "WRONG: 3 lost", false),
                new DemoRow(Contender.MIRRORMAKER1, 32, untimed, "every record once", true)));

        assertThat(table.lines().map(line -> line.replaceAll("\\s+", " ")))
                .containsExactly(
                        "producer threads records/s CPU ns/record send mean µs send p99 µs target is",
                        "stock 1 2,000,000 1,500 1.23 9.9 exact",
                        "millrace 32 2,000,000 1,500 1.23 9.9 WRONG: 3 lost",
                        "mirrormaker1 32 1,000,000 1,500 – – every record once");
    }
}
