package dev.millrace.testkit.figures;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RatioOfPairsTest {
    private static final List<Double> ONE_TO_ELEVEN =
            IntStream.rangeClosed(1, 11).mapToObj(Double::valueOf).toList();

    @Test
    void shouldCallTheSmallRatiosBadIfMoreIsBetter() {
        assertThat(RatioOfPairs.of(ONE_TO_ELEVEN, true).worstTenth()).isEqualTo(2);
        assertThat(RatioOfPairs.of(ONE_TO_ELEVEN, false).worstTenth()).isEqualTo(10);
    }

    @Test
    void shouldShowTheSameForTheSamePairs() {
        assertThat(RatioOfPairs.of(ONE_TO_ELEVEN, true)).hasToString("6.00 (3.00 to 9.00; 2.00)");
        assertThat(RatioOfPairs.of(List.of(0.0026), true)).hasToString("0.0026 (0.0026 to 0.0026; 0.0026)");
    }

    /** The interval has the true median in about 95 of 100 samples. */
    @Test
    void shouldHaveTheMedianInsideAsOftenAsItSays() {
        SplittableRandom random = new SplittableRandom(1);
        long inside = IntStream.range(0, 100)
                .filter(sample -> {
                    List<Double> ratios = DoubleStream.generate(random::nextDouble)
                            .limit(60)
                            .boxed()
                            .toList();
                    RatioOfPairs all = RatioOfPairs.of(ratios, true);
                    return all.low() <= 0.5 && all.high() >= 0.5;
                })
                .count();

        assertThat(inside).isBetween(85L, 100L);
    }
}
