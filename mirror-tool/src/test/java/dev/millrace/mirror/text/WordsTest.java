package dev.millrace.mirror.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WordsTest {
    @Test
    void shouldSayOneThingAndSeveralThings() {
        assertThat(Words.count(1, "partition")).isEqualTo("1 partition");
        assertThat(Words.count(0, "partition")).isEqualTo("0 partitions");
        assertThat(Words.count(1_000, "partition")).isEqualTo("1,000 partitions");
        assertThat(Words.list(List.of("a"), "group")).isEqualTo("group a");
        assertThat(Words.list(List.of("a", "b"), "group")).isEqualTo("2 groups (a, b)");
    }

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
