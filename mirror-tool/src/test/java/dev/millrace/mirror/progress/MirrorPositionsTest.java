package dev.millrace.mirror.progress;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class MirrorPositionsTest {
    @Test
    void shouldTellWhichTopicsHaveNoPositionOfAnyPartition() {
        MirrorPositions positions = new MirrorPositions(
                "mirror",
                false,
                Map.of(
                        new TopicPartition("orders", 3), new OffsetAndMetadata(7),
                        new TopicPartition("unmatched", 0), new OffsetAndMetadata(1)));

        assertThat(positions.withoutAny(Set.of("orders", "payments"))).containsExactly("payments");
    }
}
