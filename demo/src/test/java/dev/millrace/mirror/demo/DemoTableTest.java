package dev.millrace.mirror.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class DemoTableTest {
    @Test
    void shouldShowOneLineForEachRunAndWhatIsWrong() {
        Measurement.Figures figures =
                new Measurement.Figures(2_000_000, new CpuPerRecord(1_500, 120, 50.4, 350), 1_234, 9_876);
        Measurement.Figures untimed =
                new Measurement.Figures(1_000_000, new CpuPerRecord(1_500, Double.NaN), Double.NaN, Double.NaN);

        String table = DemoTable.format(List.of(
                new DemoRow(Contender.STOCK, 1, figures, "exact", true),
                new DemoRow(Contender.MILLRACE_CONSUMER, 32, figures, "WRONG: 3 lost", false),
                new DemoRow(Contender.MIRRORMAKER1, 32, untimed, "every record once", true)));

        assertThat(table.lines().map(line -> line.replaceAll("\\s+", " ")))
                .containsExactly(
                        "producer threads records/s CPU ns/record compiler source's target's send mean µs send p99 µs target is",
                        "stock 1 2,000,000 1,500 120 50 350 1.23 9.9 exact",
                        "millrace-consumer 32 2,000,000 1,500 120 50 350 1.23 9.9 WRONG: 3 lost",
                        "mirrormaker1 32 1,000,000 1,500 - - - - - every record once");
    }

    @Test
    void shouldAlignTheLongestNames() {
        Measurement.Figures figures =
                new Measurement.Figures(2_000_000, new CpuPerRecord(1_500, 120, 50.4, 350), 1_234, 9_876);

        String table = DemoTable.format(Arrays.stream(Contender.values())
                .map(contender -> new DemoRow(contender, 32, figures, "exact", true))
                .toList());

        assertThat(table.lines().skip(1).map(line -> line.lastIndexOf("exact")))
                .containsOnly(table.indexOf("target is"));
    }

    @Test
    void shouldWriteARunAsJson() {
        Measurement.Figures figures = new Measurement.Figures(
                2_000_000.4, new CpuPerRecord(1_500.26, 120, 50.44, 350), Double.NaN, Double.NaN);

        assertThat(DemoJson.format(new DemoRow(Contender.MILLRACE_AUTO, 2, figures, "exact", true)))
                .isEqualTo("{\"contender\":\"millrace\",\"mode\":\"auto\",\"threads\":2,\"records_per_s\":2000000,"
                        + "\"cpu_ns_per_record\":1500.3,\"compiler_cpu_ns_per_record\":120.0,"
                        + "\"source_cpu_ns_per_record\":50.4,\"target_cpu_ns_per_record\":350.0,\"target\":\"exact\"}");
        assertThat(DemoJson.format(new DemoRow(Contender.MIRRORMAKER2, 4, figures, "WRONG: \"\\\n", false)))
                .contains("\"contender\":\"mirrormaker2\",\"mode\":null")
                .endsWith("\"target\":\"WRONG: \\\"\\\\\\u000a\"}");
    }
}
