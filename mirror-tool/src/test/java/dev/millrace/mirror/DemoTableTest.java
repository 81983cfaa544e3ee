package dev.millrace.mirror;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class DemoTableTest {
    @Test
    void shouldShowOneLineForEachRunAndWhatIsWrong() {
        Measurement.Figures figures = new Measurement.Figures(1_000_000, 500_000_000L, 1_500_000_000L, 1_234, 9_876);

        String table = DemoTable.format(List.of(
                new DemoTable.Row(ProducerKind.STOCK, 1, figures, "all there", true),
                new DemoTable.Row(ProducerKind.MILLRACE, 32, figures, "3 lost", false)));

        assertThat(table.lines().map(line -> line.replaceAll("\\s+", " ")))
                .containsExactly(
                        "producer threads records/s CPU ns/record send mean µs send p99 µs target is",
                        "stock 1 2,000,000 1,500 1.23 9.9 exact",
                        "millrace 32 2,000,000 1,500 1.23 9.9 WRONG: 3 lost");
    }
}
