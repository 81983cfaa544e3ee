package dev.millrace.mirror.member;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class HeldPartitionsTest {
    private static final TopicPartition TP = new TopicPartition("orders", 0);
    private static final TopicPartition OTHER = new TopicPartition("orders", 1);

    private final HeldPartitions held = new HeldPartitions();
    /** So that the clock passes its largest value on the way. */
    private long now = Long.MAX_VALUE - 1;

    @Test
    void shouldHoldAPartitionLongerEachTimeUpToAMinute() {
        for (long seconds : List.of(10, 20, 40, 60, 60)) {
            held.hold(List.of(TP), now);

            now += TimeUnit.SECONDS.toNanos(seconds) - 1;
            assertThat(held.isHeld(TP, now)).as("just before %d s", seconds).isTrue();
            assertThat(held.isHeld(OTHER, now)).isFalse();
            now++;
            assertThat(held.isHeld(TP, now)).as("after %d s", seconds).isFalse();
        }
    }

    @Test
    void shouldBeginAnewWithAPartitionThatWasReleased() {
        held.hold(List.of(TP, OTHER), now);
        held.release(List.of(TP));
        assertThat(held.isHeld(TP, now)).isFalse();
        assertThat(held.isHeld(OTHER, now)).isTrue();

        held.hold(List.of(TP, OTHER), now);

        now += TimeUnit.SECONDS.toNanos(10);
        assertThat(held.isHeld(TP, now)).isFalse();
        assertThat(held.isHeld(OTHER, now)).isTrue();
    }
}
