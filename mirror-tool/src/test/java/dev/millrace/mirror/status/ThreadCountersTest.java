package dev.millrace.mirror.status;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ThreadCountersTest {
    private static final long START = Long.MAX_VALUE - 1; // The clock's origin is arbitrary, and it may overflow.

    private final ThreadCounters counters = new ThreadCounters(START);

    @Test
    void shouldNotKnowTheLagBeforeItIsMeasured() {
        assertThat(counters.totals(START).isLagKnown()).isFalse();
        assertThat(counters.totals(START + 1).isLagKnown()).isFalse();
    }

    @Test
    void shouldNotKnowTheLagOfAThreadThatIsHeldUp() {
        counters.setUnpolled(100, true, START);
        counters.addSent(30, 300);

        MirrorTotals soon = counters.totals(START + ThreadCounters.FRESH_NANOS - 1);
        MirrorTotals late = counters.totals(START + ThreadCounters.FRESH_NANOS);

        assertThat(soon.lag()).isEqualTo(100);
        assertThat(soon.isLagKnown()).isTrue();
        assertThat(late.lag()).isEqualTo(100);
        assertThat(late.isLagKnown()).isFalse();
    }

    @Test
    void shouldNotKnowTheLagWhenThatOfOneThreadOrPartitionIsUnknown() {
        ThreadCounters other = new ThreadCounters(START);
        counters.setUnpolled(100, true, START);
        other.setUnpolled(5, false, START);

        MirrorTotals sum = counters.totals(START).plus(other.totals(START));

        assertThat(sum.lag()).isEqualTo(105);
        assertThat(sum.isLagKnown()).isFalse();
        assertThat(MirrorTotals.NONE.plus(counters.totals(START)).isLagKnown()).isTrue();
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
