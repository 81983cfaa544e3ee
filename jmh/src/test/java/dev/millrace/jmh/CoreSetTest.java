package dev.millrace.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CoreSetTest {
    @Test
    void shouldReadRangesAndSingleNumbers() {
        assertThat(CoreSet.parse("\t0-3,8")).containsExactly(0, 1, 2, 3, 8);
        assertThat(CoreSet.parse("5")).containsExactly(5);
    }
}
