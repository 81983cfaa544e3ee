package dev.millrace.race;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class FigureTest {
    @Test
    void shouldReadBackWhatItPrints() {
        Map<Figure, Double> figures = Map.of(Figure.RECORDS_PER_S, 1.2345678E7, Figure.GC_MS, 0.0);

        assertThat(Figure.fromJson(Figure.toJson(figures))).isEqualTo(figures);
    }

    @Test
    void shouldReadFiguresOfOtherLanguages() {
        assertThat(Figure.fromJson("{\"records_per_s\": 2500000, \"cpu_ns_per_record\": 7.1e+02}"))
                .isEqualTo(Map.of(Figure.RECORDS_PER_S, 2.5e6, Figure.CPU_NS_PER_RECORD, 710.0));
    }
}
