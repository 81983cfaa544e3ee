package dev.millrace.client.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class MonotonicTimeTest {
    private final MonotonicTime time = new MonotonicTime();

    @Test
    void shouldRoundDownWhatItWasSomeTimeAgoAlsoBeforeItsStart() {
        long beforeMs = time.milliseconds();

        long anHourAgoMs = time.millisecondsBefore(TimeUnit.HOURS.toNanos(1));
        long halfAMsAgoMs = time.millisecondsBefore(500_000);
        long justAgoMs = time.millisecondsBefore(1);

        long afterMs = time.milliseconds();
        assertThat(anHourAgoMs).isBetween(beforeMs - 3_600_000, afterMs - 3_600_000);
        assertThat(halfAMsAgoMs).isBetween(beforeMs - 1, afterMs);
        assertThat(justAgoMs).isBetween(beforeMs - 1, afterMs);
    }

    @Test
    void shouldBeginWithTheWallClocksTime() {
        long beforeMs = System.currentTimeMillis();

        assertThat(new MonotonicTime().milliseconds()).isGreaterThanOrEqualTo(beforeMs);
    }
}
