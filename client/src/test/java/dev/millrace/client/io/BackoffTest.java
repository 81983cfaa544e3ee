package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;

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
