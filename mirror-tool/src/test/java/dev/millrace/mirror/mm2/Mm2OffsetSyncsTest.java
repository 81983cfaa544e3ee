package dev.millrace.mirror.mm2;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.offsets.OffsetRuns;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.mirror.OffsetSync;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against the published class that MirrorMaker 2 reads them with. */
class Mm2OffsetSyncsTest {
    @ParameterizedTest
    @CsvSource({"orders, 0, 0, 0", "old.orders, 300, 5000000000, 7"})
    void shouldWriteWhatMirrorMaker2Reads(String topic, int number, long source, long target) {
        TopicPartition partition = new TopicPartition(topic, number);

        OffsetSync read = OffsetSync.deserializeRecord(new ConsumerRecord<>(
                "any",
                0,
                0,
                Mm2Topic.key(partition).array(),
                Mm2OffsetSyncs.value(new OffsetRuns.Copy(source, target))));

        assertThat(read).isEqualTo(new OffsetSync(partition, source, target));
    }
}
