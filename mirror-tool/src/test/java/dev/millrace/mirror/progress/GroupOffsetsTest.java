package dev.millrace.mirror.progress;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class GroupOffsetsTest {
    private static final TopicPartition FIRST = new TopicPartition("t", 0);
    private static final TopicPartition SECOND = new TopicPartition("t", 1);
    private static final TopicPartition THIRD = new TopicPartition("t", 2);

    @Test
    void shouldFindWhatAGroupHasCommittedMeanwhileAfterWhatWasWritten() {
        Map<TopicPartition, OffsetAndMetadata> before = new HashMap<>();
        before.put(FIRST, new OffsetAndMetadata(900, "its own"));
        before.put(SECOND, new OffsetAndMetadata(500));
        before.put(THIRD, new OffsetAndMetadata(900));
        before.put(new TopicPartition("t", 3), null);

        assertThat(GroupOffsets.later(
                        before, Map.of(FIRST, new OffsetAndMetadata(500), SECOND, new OffsetAndMetadata(500))))
                .isEqualTo(Map.of(FIRST, new OffsetAndMetadata(900, "its own")));
    }
}
