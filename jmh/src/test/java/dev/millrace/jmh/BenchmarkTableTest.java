package dev.millrace.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class BenchmarkTableTest {
    @Test
    void shouldAlignRowsAndSortThemByBenchmarkVariantAndThreads() {
        List<BenchmarkResult> rows = List.of(
                new BenchmarkResult("Send choice=KEYED", "millrace", 1, 6.789, 0.12, 147.2, 72.01),
                new BenchmarkResult("Metadata topics=1000", "millrace", 32, 83.012, 1.234, 15.19, 0.0004),
                new BenchmarkResult("Metadata topics=1000", "millrace", 2, 101.96, 12.3, 15.2, 0),
                new BenchmarkResult("Metadata topics=1000", "kafka0901", 32, 0.8, Double.NaN, 1234.5, Double.NaN));

        List<String> lines = BenchmarkTable.lines(rows);

        assertThat(lines)
                .containsExactly(
                        "benchmark             variant    threads  ops/µs  ± error  CPU ns/op  B/op",
                        "Metadata topics=1000  kafka0901       32    0.80        -       1235     -",
                        "Metadata topics=1000  millrace         2     102     ± 12       15.2  0.00",
                        "Metadata topics=1000  millrace        32    83.0    ± 1.2       15.2  0.00",
                        "Send choice=KEYED     millrace         1    6.79   ± 0.12        147  72.0");
    }

    @Test
    void shouldNameBenchmarkByItsClassWithoutSuffix() {
        assertThat(BenchmarkResult.simpleName("dev.millrace.jmh.AppendBenchmark.millrace"))
                .isEqualTo("Append");
        assertThat(BenchmarkResult.simpleName("dev.millrace.client.Other.kafka431"))
                .isEqualTo("Other");
    }
}
