package dev.millrace.race;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class MedianAndRangeTest {
    @Test
    void shouldFindMiddleValueWhenCountIsOdd() {
        assertThat(MedianAndRange.of(List.of(9.0, 1.0, 4.0))).isEqualTo(new MedianAndRange(4, 1, 9));
    }

    @Test
    void shouldTakeMeanOfTheTwoInTheMiddleWhenCountIsEven() {
        assertThat(MedianAndRange.of(List.of(9.0, 1.0, 4.0, 3.0))).isEqualTo(new MedianAndRange(3.5, 1, 9));
    }
}
