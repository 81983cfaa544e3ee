package dev.millrace.mirror.copy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.control.TopicControls;
import dev.millrace.mirror.support.FakeSourceConsumer;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class PausedReadingTest {
    private static final TopicPartition TP = new TopicPartition("orders", 0);
    private static final TopicPartition OTHER = new TopicPartition("orders", 1);
    private static final Set<TopicPartition> BOTH = Set.of(TP, OTHER);
    private static final Set<TopicPartition> NONE = Set.of();

    private final FakeSourceConsumer consumer = new FakeSourceConsumer(new AtomicBoolean(), "orders");
    private final TopicControls controls = new TopicControls();
    private final PausedReading reading = new PausedReading(consumer, controls);

    PausedReadingTest() {
        consumer.subscribe(Set.of("orders"));
        consumer.assign(TP, OTHER);
    }

    @Test
    void shouldResumeOnlyWhatItHasPaused() {
        consumer.pause(List.of(OTHER)); // the member does so until the partition begins
        reading.pauseOnly(List.of(TP), BOTH, NONE);

        reading.pauseOnly(NONE, BOTH, NONE);

        assertThat(consumer.paused()).containsExactly(OTHER);
    }

    @Test
    void shouldNotResumeWhatIsNotCopied() {
        reading.pauseOnly(BOTH, BOTH, NONE); // as after a refusal

        reading.pauseOnly(NONE, Set.of(TP), NONE);

        assertThat(consumer.paused()).containsExactly(OTHER);
    }

    @Test
    void shouldNotResumeWhatIsSearchedForRefusedRecords() {
        reading.pauseOnly(BOTH, BOTH, NONE);

        reading.pauseOnly(NONE, BOTH, Set.of(TP));

        assertThat(consumer.paused()).containsExactly(TP);
    }

    @Test
    void shouldNotResumeWhatAGapHasStopped() {
        reading.pauseOnly(BOTH, BOTH, NONE);
        reading.stopAfterGap(Set.of(TP));

        reading.pauseOnly(NONE, BOTH, NONE);

        assertThat(consumer.paused()).containsExactly(TP);
        reading.forget(Set.of(TP));
        assertThat(reading.isStopped(TP)).isFalse();
    }

    @Test
    void shouldNotStartWhatBelongsToAPausedTopicUntilTheTopicIsResumed() {
        controls.pause(Optional.empty());
        reading.start(BOTH);
        assertThat(consumer.paused()).isEqualTo(BOTH);

        controls.resume(Optional.empty());
        reading.pauseOnly(NONE, BOTH, NONE);

        assertThat(consumer.paused()).isEmpty();
    }
}
