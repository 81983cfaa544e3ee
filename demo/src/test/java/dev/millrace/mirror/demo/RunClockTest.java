package dev.millrace.mirror.demo;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RunClockTest {
    private int starts;

    @Test
    void shouldStartWithThePollThatComesPastAQuarter() {
        RunClock clock = new RunClock(1_000, () -> starts++);

        clock.onPolled(100);
        clock.onPolled(150);
        assertThat(clock.isRunning()).isFalse();
        clock.onPolled(200);
        assertThat(clock.isRunning()).isTrue();
        clock.onPolled(300);
        assertThat(clock.measuredRecords()).isEqualTo(750);
        assertThat(starts).isEqualTo(1);
    }

    @Test
    void shouldStartWithAPollOfEverything() {
        RunClock clock = new RunClock(3, () -> starts++);

        clock.onPolled(0);
        assertThat(clock.isRunning()).isFalse();
        clock.onPolled(3);
        assertThat(clock.isRunning()).isTrue();
        assertThat(clock.measuredRecords()).isEqualTo(3);
    }
}
