package dev.millrace.race;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class RaceMetricTest {
    @Test
    void shouldReadBackWhatItPrints() {
        Map<RaceMetric, Double> metrics = Map.of(RaceMetric.RECORDS_PER_S, 1.2345678E7, RaceMetric.GC_MS, 0.0);

        assertThat(RaceMetric.fromJson(RaceMetric.toJson(metrics))).isEqualTo(metrics);
    }

    @Test
    void shouldReadMetricsOfOtherLanguages() {
        assertThat(RaceMetric.fromJson("{\"records_per_s\": 2500000, \"cpu_ns_per_record\": 7.1e+02}"))
                .isEqualTo(Map.of(RaceMetric.RECORDS_PER_S, 2.5e6, RaceMetric.CPU_NS_PER_RECORD, 710.0));
    }
}
