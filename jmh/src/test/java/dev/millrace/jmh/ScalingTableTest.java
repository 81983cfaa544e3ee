package dev.millrace.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ScalingTableTest {
    @Test
    void shouldShowTheModelBesideWhatWasMeasuredAndForMoreCores() {
        Map<Integer, Collection<BenchmarkResult>> results = Map.of(1, results(10, 2.5, 20), 2, results(16, 2.5, 20));

        List<String> lines = ScalingTable.lines(results);

        assertThat(lines)
                .contains(
                        "Append millrace: a core has the shared cache lines to itself for 42.5 ns",
                        "Append kafka431: a core has a lock to itself for 400 ns",
                        "Append partitions=1     millrace       100      2    16.0   ± 0.10   16.0",
                        "Append partitions=1     kafka431      0.00     64       -        -   2.50");
    }

    private static Collection<BenchmarkResult> results(double millrace, double kafka, double metadata) {
        return List.of(
                result("Append partitions=1", "millrace", millrace),
                result("Append partitions=32", "millrace", millrace),
                result("Append partitions=1", "kafka431", kafka),
                result("Append partitions=32", "kafka431", kafka),
                result("Metadata topics=1", "kafka440", metadata),
                result("Metadata topics=1000", "kafka440", metadata));
    }

    private static BenchmarkResult result(String benchmark, String variant, double opsPerUs) {
        return new BenchmarkResult(benchmark, variant, 32, opsPerUs, 0.1, Double.NaN, Double.NaN);
    }
}
