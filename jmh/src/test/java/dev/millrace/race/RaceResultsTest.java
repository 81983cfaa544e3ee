package dev.millrace.race;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RaceResultsTest {
    private final RaceResults results = new RaceResults("10 records");

    @Test
    void shouldTakeRatiosWithinRoundsWhenThereAreSeveral() {
        race(1_000_000, 400_000);
        race(2_000_000, 500_000);
        race(500_000, 250_000);

        List<String> lines = results.json().lines().toList();

        assertThat(lines).hasSize(2);
        assertThat(lines.get(0))
                .startsWith("{\"producer\": \"millrace\", \"threads\": 32, \"records_per_s\": 1000000.000, ")
                .endsWith("\"ratio_to_millrace\": 1.000, \"ratio_min\": 1.000, \"ratio_max\": 1.000}");
        assertThat(lines.get(1))
                .contains("\"records_per_s\": 400000.000, \"send_p999_us\": 7.500, \"records_per_s_min\": 250000.000")
                .endsWith("\"ratio_to_millrace\": 0.400, \"ratio_min\": 0.250, \"ratio_max\": 0.500}");
    }

    @Test
    void shouldAlignColumnsAndMarkWhatIsNotMeasured() {
        results.add("millrace", 32, metrics(1_234_567, 12.5));
        results.add("franz-go", 32, Map.of(RaceMetric.RECORDS_PER_S, 617_283.5));

        assertThat(results.table()).endsWith("""

                producer  threads  records/s              min..max  p99.9 µs         × millrace
                millrace       32  1,234,567  1,234,567..1,234,567      12.5  1.00 (1.00..1.00)
                franz-go       32    617,284      617,284..617,284         –  0.50 (0.50..0.50)
                """);
    }

    @Test
    void shouldShowRatiosWithIntervalsWhenThereAreManyRounds() {
        for (int round = 0; round < 20; round++) {
            race(1_000_000 + 10_000 * round, 500_000);
        }

        assertThat(results.table()).endsWith("""

                        millrace /   threads                  records/s              send p99.9 µs
                        kafka-4.4.0       32  2.19 (2.11 to 2.27; 2.04)  0.20 (0.20 to 0.20; 0.20)

                        Ratios: median (95 % interval of the median; worst tenth of the rounds). All 20 rounds count.
                        """).doesNotContain("× millrace");
        assertThat(results.json())
                .contains("\"millrace_records_per_s_ratio\": 2.190, \"millrace_records_per_s_ratio_low\": 2.1");
    }

    @Test
    void shouldLeaveRatioOutWhenMillraceDoesNotRace() {
        results.add("kafka-4.4.0", 1, metrics(1, 1));

        assertThat(results.json()).doesNotContain("ratio");
    }

    @Test
    void shouldPutTheCaseFirstInJson() {
        results.add("millrace", 8, metrics(1, 1));

        assertThat(results.json(EverydayCase.RATE_1000)).startsWith("{\"case\": \"rate-1000\", \"producer\": ");
    }

    @Test
    void shouldCompareTheProducersOwnCpuWhenThereIsARate() {
        results.add("millrace", 8, atRate(10_000));
        results.add("kafka-4.4.0", 8, atRate(25_000));

        assertThat(results.table()).contains("own CPU × millrace").contains("2.50 (2.50..2.50)");
        assertThat(results.json())
                .contains("\"load_cpu_ns_per_record\": 5000.000")
                .contains("\"own_cpu_ratio_to_millrace\": 2.500");
    }

    private static Map<RaceMetric, Double> atRate(double ownCpu) {
        return new EnumMap<>(Map.of(
                RaceMetric.RECORDS_PER_S,
                1000.0,
                RaceMetric.LOAD_CPU_NS_PER_RECORD,
                5000.0,
                RaceMetric.OWN_CPU_NS_PER_RECORD,
                ownCpu));
    }

    private void race(double millrace, double stock) {
        results.add("millrace", 32, metrics(millrace, 1.5));
        results.add("kafka-4.4.0", 32, metrics(stock, 7.5));
    }

    private static Map<RaceMetric, Double> metrics(double recordsPerSecond, double sendP999Micros) {
        return new EnumMap<>(
                Map.of(RaceMetric.RECORDS_PER_S, recordsPerSecond, RaceMetric.SEND_P999_US, sendP999Micros));
    }
}
