package dev.millrace.mirror;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ThreadCountersTest {
    private static final long START = Long.MAX_VALUE - 1; // The clock's origin is arbitrary, and it may overflow.

    private final ThreadCounters counters = new ThreadCounters(START);

    @Test
    void shouldNotKnowTheLagBeforeItIsMeasured() {
        assertThat(counters.totals(START).lagKnown()).isFalse();
        assertThat(counters.totals(START + 1).lagKnown()).isFalse();
    }

    @Test
    void shouldNotKnowTheLagOfAThreadThatIsHeldUp() {
        counters.setBehind(100, true, START);
        counters.addSent(30, 300);

        ThreadCounters.Totals soon = counters.totals(START + ThreadCounters.FRESH_NANOS - 1);
        ThreadCounters.Totals late = counters.totals(START + ThreadCounters.FRESH_NANOS);

        assertThat(soon.lag()).isEqualTo(100);
        assertThat(soon.lagKnown()).isTrue();
        assertThat(late.lag()).isEqualTo(100);
        assertThat(late.lagKnown()).isFalse();
    }

    @Test
    void shouldNotKnowTheLagWhenThatOfOneThreadOrPartitionIsUnknown() {
        ThreadCounters other = new ThreadCounters(START);
        counters.setBehind(100, true, START);
        other.setBehind(5, false, START);

        ThreadCounters.Totals sum = counters.totals(START).plus(other.totals(START));

        assertThat(sum.lag()).isEqualTo(105);
        assertThat(sum.lagKnown()).isFalse();
        assertThat(ThreadCounters.Totals.NONE.plus(counters.totals(START)).lagKnown())
                .isTrue();
    }

    @Test
    void shouldCountWhatIsDroppedNeitherAsInFlightNorAsAcknowledged() {
        counters.addSent(10, 100);
        counters.addAcked(4);
        counters.addDropped(5);

        assertThat(counters.totals(START).inFlight()).isEqualTo(1);
        assertThat(counters.totals(START).acked()).isEqualTo(4);
    }
}
