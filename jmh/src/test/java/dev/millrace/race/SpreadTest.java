package dev.millrace.race;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SpreadTest {
    @Test
    void shouldFindMiddleValueWhenCountIsOdd() {
        assertThat(Spread.of(List.of(9.0, 1.0, 4.0))).isEqualTo(new Spread(4, 1, 9));
    }

    @Test
    void shouldTakeMeanOfTheTwoInTheMiddleWhenCountIsEven() {
        assertThat(Spread.of(List.of(9.0, 1.0, 4.0, 3.0))).isEqualTo(new Spread(3.5, 1, 9));
    }
}
