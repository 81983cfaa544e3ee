package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BackoffTest {
    @Test
    void shouldDoubleWithEveryAttemptUpToTheLimitWithATwentyPercentSpread() {
        Backoff backoff = new Backoff(100, 1_000);
        long[] expected = {0, 100, 200, 400, 800, 1_000, 1_000};
        for (int attempts = 0; attempts < expected.length; attempts++) {
            for (int i = 0; i < 100; i++) {
                assertThat(backoff.delayMs(attempts))
                        .isBetween(expected[attempts] * 79 / 100, Math.min(1_000, expected[attempts] * 121 / 100));
            }
        }
        assertThat(backoff.delayMs(Integer.MAX_VALUE)).isBetween(790L, 1_000L);
    }

    @Test
    void shouldWaitEquallyLongWhenChanceIsTheSame() {
        assertThat(delays(new Random(7))).isEqualTo(delays(new Random(7))).isNotEqualTo(delays(new Random(8)));
    }

    private static List<Long> delays(Random random) {
        Backoff backoff = new Backoff(100, 1_000, random::nextDouble);
        return IntStream.range(0, 10).mapToObj(backoff::delayMs).toList();
    }

    @Test
    void shouldStayAtTheLimitWhenThatIsLessThanTheFirst() {
        assertThat(new Backoff(500, 100).delayMs(9)).isBetween(79L, 100L);
        assertThat(new Backoff(0, 0).delayMs(9)).isZero();
    }

    @Test
    void shouldNotExceedTheClockWhenAddedToTheTimeHoweverLongItIs() {
        long nowMs = System.currentTimeMillis();
        for (long longest : new long[] {Long.MAX_VALUE, Long.MAX_VALUE - 1, Long.MAX_VALUE / 2}) {
            for (int attempts = 1; attempts < 70; attempts++) {
                assertThat(nowMs + new Backoff(longest, longest).delayMs(attempts))
                        .isGreaterThan(nowMs);
                assertThat(nowMs + new Backoff(1, longest).delayMs(attempts)).isGreaterThanOrEqualTo(nowMs);
            }
        }
    }
}
