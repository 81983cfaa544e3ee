package dev.millrace.mirror.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class CatchUpEstimateTest {
    private final CatchUpEstimate estimate = new CatchUpEstimate();

    @Test
    void shouldDivideTheLagByHowFastItFell() {
        for (int second = 0; second <= 10; second++) {
            add(second, 1_000_000L - 2_000L * second, 3_000L * second, 8);
        }

        assertThat(estimate.seconds()).isEqualTo(980_000 / 2_000.0);
    }

    @Test
    void shouldForgetHowFastItFellMoreThanAMinuteAgo() {
        for (int second = 0; second <= 200; second++) {
            long lag = 10_000_000L - (second <= 100 ? 50_000L * second : 5_000_000L + 1_000L * (second - 100));
            add(second, lag, 10_000_000 - lag, 8);
        }

        assertThat(estimate.seconds()).isCloseTo(4_900_000 / 1_000.0, within(1e-6));
    }

    @Test
    void shouldNotGuessFromLessThanFiveSeconds() {
        add(0, 1_000_000, 0, 8);
        add(4, 900_000, 100_000, 8);

        assertThat(estimate.seconds()).isNaN();
    }

    @Test
    void shouldTellNothingWhileTheLagGrowsOrStays() {
        add(0, 1_000_000, 0, 8);
        add(10, 1_000_001, 50_000, 8);
        assertThat(estimate.seconds()).isNaN();

        add(20, 1_000_000, 100_000, 8);
        assertThat(estimate.seconds()).isNaN();
    }

    @Test
    void shouldHaveCaughtUpOnceTheLagIsWhatIsCopiedInASecond() {
        add(0, 0, 0, 8);
        assertThat(estimate.seconds()).isZero();

        add(10, 4_999, 50_000, 8);
        assertThat(estimate.seconds()).isZero();
    }

    @Test
    void shouldBeginAnewWhenPartitionsComeOrGo() {
        add(0, 1_000_000, 0, 8);
        add(10, 900_000, 100_000, 8);
        add(11, 500_000, 110_000, 4);
        assertThat(estimate.seconds()).isNaN();

        add(21, 400_000, 210_000, 4);
        assertThat(estimate.seconds()).isEqualTo(40);
    }

    @Test
    void shouldBeginAnewAfterALagThatWasNotKnown() {
        add(0, 1_000_000, 0, 8);
        estimate.add(new MirrorTotals(0, 0, 0, 0, 10, false), 8, TimeUnit.SECONDS.toNanos(10));
        assertThat(estimate.seconds()).isNaN();

        add(11, 890_000, 110_000, 8);
        assertThat(estimate.seconds()).isNaN();
    }

    private void add(long second, long lag, long acked, long partitions) {
        estimate.add(new MirrorTotals(acked, acked, 0, 0, lag, true), partitions, TimeUnit.SECONDS.toNanos(second));
    }
}
