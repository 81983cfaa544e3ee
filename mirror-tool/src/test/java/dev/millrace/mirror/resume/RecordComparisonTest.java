package dev.millrace.mirror.resume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.mirror.config.TopicNames;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;

class RecordComparisonTest {
    private static final TopicPartition PARTITION = new TopicPartition("orders", 0);

    private final MockConsumer<byte[], byte[]> source = consumer();
    private final MockConsumer<byte[], byte[]> target = consumer();
    private final RecordComparison comparison = new RecordComparison(source, target, TopicNames.KEPT, Duration.ZERO);

    @Test
    void shouldTellWhereTheSourceIsAfterTheSameRecords() {
        holds(source, 10, "a", "b");
        holds(target, 40, "a", "b");

        assertThat(comparison.positionAfter(PARTITION, 10, 40, 2))
                .map(OffsetAndMetadata::offset)
                .contains(12L);
    }

    @Test
    void shouldTellThatRecordsDiffer() {
        holds(source, 10, "a", "b");
        holds(target, 40, "a", "x");

        assertThat(comparison.positionAfter(PARTITION, 10, 40, 2)).isEmpty();
    }

    @Test
    void shouldTellThatRecordsDifferWhenTheSourceEndsBefore() {
        holds(source, 10, "a");
        holds(target, 40, "a", "b");

        assertThat(comparison.positionAfter(PARTITION, 10, 40, 2)).isEmpty();
    }

    @Test
    void shouldNotTakeAClusterThatDoesNotAnswerForADifference() {
        source.updateEndOffsets(Map.of(PARTITION, 12L));
        holds(target, 40, "a", "b");

        assertThatThrownBy(() -> comparison.positionAfter(PARTITION, 10, 40, 2)).isInstanceOf(TimeoutException.class);
    }

    private static MockConsumer<byte[], byte[]> consumer() {
        MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("none");
        consumer.updateEndOffsets(Map.of(PARTITION, 0L));
        return consumer;
    }

    /** The consumer finds these values when it polls, and then the end. */
    private static void holds(MockConsumer<byte[], byte[]> consumer, long offset, String... values) {
        consumer.updateEndOffsets(Map.of(PARTITION, offset + values.length));
        consumer.schedulePollTask(() -> {
            long next = offset;
            for (String value : List.of(values)) {
                consumer.addRecord(new ConsumerRecord<>("orders", 0, next++, null, value.getBytes(UTF_8)));
            }
        });
    }
}
