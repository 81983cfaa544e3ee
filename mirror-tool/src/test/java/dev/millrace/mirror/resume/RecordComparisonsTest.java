package dev.millrace.mirror.resume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.mirror.config.TopicNames;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;

class RecordComparisonsTest {
    private final List<MockConsumer<byte[], byte[]>> opened = new ArrayList<>();
    private int timesAllIdle;
    private final RecordComparisons comparisons = new RecordComparisons(
            () -> new RecordComparison(open(), open(), TopicNames.KEPT, Duration.ZERO), () -> timesAllIdle++);

    @Test
    void shouldLendEachToOneAtATimeAndOpenAnotherOnlyWhenNoneIsIdle() {
        List<RecordComparison> lent = new ArrayList<>();

        comparisons.ask(first -> lent.add(first) && comparisons.ask(lent::add));
        comparisons.ask(lent::add);

        assertThat(lent.get(1)).isNotSameAs(lent.get(0));
        assertThat(lent.get(2)).isIn(lent.get(0), lent.get(1));
    }

    @Test
    void shouldLendOneAgainWhoseQuestionWasNotAnswered() {
        assertThatThrownBy(() -> comparisons.ask(comparison -> {
                    throw new TimeoutException("no answer");
                }))
                .isInstanceOf(TimeoutException.class);

        comparisons.ask(RecordComparison::hashCode);

        assertThat(opened).hasSize(2); // one comparison has two consumers
    }

    @Test
    void shouldTellWhenTheLastHasItsAnswerAndCloseNoneBefore() {
        comparisons.ask(first -> {
            comparisons.ask(RecordComparison::hashCode);
            comparisons.closeIfAllIdle();
            return comparisons;
        });

        assertThat(timesAllIdle).isEqualTo(1);
        assertThat(opened).hasSize(4).noneMatch(MockConsumer::closed);

        comparisons.closeIfAllIdle();

        assertThat(opened).allMatch(MockConsumer::closed);
    }

    @Test
    void shouldOpenAnotherWhenThoseBeforeAreClosed() {
        comparisons.ask(RecordComparison::hashCode);
        comparisons.closeIfAllIdle();

        comparisons.ask(RecordComparison::hashCode);

        assertThat(opened).hasSize(4);
        assertThat(opened.get(3).closed()).isFalse();
    }

    @Test
    void shouldCloseAllThatItHasOpened() {
        comparisons.ask(first -> comparisons.ask(RecordComparison::hashCode));

        comparisons.close();

        assertThat(opened).hasSize(4).allMatch(MockConsumer::closed);
    }

    private MockConsumer<byte[], byte[]> open() {
        MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("none");
        opened.add(consumer);
        return consumer;
    }
}
