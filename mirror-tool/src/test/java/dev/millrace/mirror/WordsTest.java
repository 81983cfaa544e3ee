package dev.millrace.mirror;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WordsTest {
    @ParameterizedTest
    @CsvSource({
        "0.4, 0 s",
        "99, 99 s",
        "100, 2 min",
        "720, 12 min",
        "5969, 99 min",
        "6000, 1 h 40 min",
        "12000, 3 h 20 min",
        "190800, 2 d 5 h"
    })
    void shouldRoundADurationToWhatAnEstimateIsWorth(double seconds, String words) {
        assertThat(Words.duration(seconds)).isEqualTo(words);
    }
}
