package dev.millrace.mirror.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class PartitionCountersTest {
    private static final TopicPartition TP = new TopicPartition("orders", 3);

    private final PartitionCounters counters = new PartitionCounters(TP);

    @Test
    void shouldAddUpWhatIsAcknowledgedAndHowLongItTook() {
        counters.onAcked(10, 1_000, 50_000, 50_004);
        counters.onAcked(5, 0, 50_000, 50_040);
        counters.onAcked(2, 300, 60_000, 59_000); // the target's clock is behind
        counters.onAcked(1, 50, -1, 0); // of an old format

        PartitionStatus status = counters.status(Set.of(), 0);
        assertThat(status.records()).isEqualTo(18);
        assertThat(status.bytes()).isEqualTo(1_350);
        assertThat(status.latency().counts()[0]).isEqualTo(12);
        assertThat(status.latency().counts()[3])
                .as("more than 25 ms, 50 at most")
                .isEqualTo(5);
        assertThat(status.latency().sumSeconds()).isEqualTo(0.24);
        assertThat(status.latency().quantileSeconds(0.5)).isEqualTo(0.005);
        assertThat(status.latency().quantileSeconds(0.99)).isEqualTo(0.05);
    }

    @Test
    void shouldBeAsFarBehindInTimeAsTheLastRecordThatTheTargetHas() {
        counters.onMeasured(100, 20, null, 5_000);
        assertThat(counters.status(Set.of(), 6_000).lagSeconds()).isNaN();

        counters.onAcked(1, 10, 2_000, 5_500);

        assertThat(counters.status(Set.of(), 6_000).lagSeconds()).isEqualTo(4);
        assertThat(counters.status(Set.of(), 6_000).lagRecords()).isEqualTo(100);
        assertThat(counters.status(Set.of(), 6_000).inFlight()).isEqualTo(20);
    }

    @Test
    void shouldNotTakeTheTimeWithoutRecordsForALag() {
        counters.onAcked(1, 10, 2_000, 5_500);
        counters.onMeasured(0, 0, null, 90_000);
        assertThat(counters.status(Set.of(), 95_000).lagSeconds()).isZero();

        counters.onMeasured(1, 0, null, 91_000);

        assertThat(counters.status(Set.of(), 91_500).lagSeconds()).isEqualTo(1.5);
    }

    @Test
    void shouldKeepItsCountsButNoLagWhenItIsGivenUp() {
        counters.onAcked(7, 10, 2_000, 5_500);
        counters.onMeasured(3, 2, StallCause.IN_FLIGHT_FULL, 6_000);

        counters.onGivenUp();

        PartitionStatus status = counters.status(Set.of(TP), 7_000);
        assertThat(status.records()).isEqualTo(7);
        assertThat(status.isOwned()).isFalse();
        assertThat(status.lagRecords()).isNegative();
        assertThat(status.lagSeconds()).isNaN();
        assertThat(status.inFlight()).isZero();
        assertThat(status.stallOrNull()).isNull();
    }

    @Test
    void shouldStallOfItsOwnCauseUnlessThatIsAConsequenceOfASilentTarget() {
        counters.onMeasured(3, 2, StallCause.IN_FLIGHT_FULL, 6_000);
        assertThat(counters.stallOrNull(Set.of())).isEqualTo(StallCause.IN_FLIGHT_FULL);
        assertThat(counters.stallOrNull(Set.of(TP))).isEqualTo(StallCause.TARGET_SILENT);
        counters.onMeasured(3, 2, null, 6_000);
        assertThat(counters.stallOrNull(Set.of())).isNull();
        assertThat(counters.stallOrNull(Set.of(TP))).isEqualTo(StallCause.TARGET_SILENT);

        counters.onMeasured(3, 2, StallCause.TARGET_NOT_READY, 6_000);

        assertThat(counters.stallOrNull(Set.of(TP))).isEqualTo(StallCause.TARGET_NOT_READY);
    }
}
