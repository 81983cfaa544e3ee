package dev.millrace.mirror.mm2;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.mirror.Checkpoint;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against the published class that programs read them with. */
class Mm2CheckpointsTest {
    @ParameterizedTest
    @CsvSource({"payments, ''", "zahlungen-m\u00fcnchen, \u20ac 5", "'', x"})
    void shouldWriteWhatMirrorMaker2Reads(String group, String metadata) {
        TopicPartition partition = new TopicPartition("old.orders", 300);
        OffsetAndMetadata committed = new OffsetAndMetadata(5_000_000_000L, metadata);

        Checkpoint read = Checkpoint.deserializeRecord(new ConsumerRecord<>(
                "any", 0, 0, Mm2Checkpoints.key(group, partition).array(), Mm2Checkpoints.value(committed, 7)));

        assertThat(read).isEqualTo(new Checkpoint(group, partition, 5_000_000_000L, 7, metadata));
    }
}
