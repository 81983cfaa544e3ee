package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.raw.BatchLayout;
import dev.millrace.kafka.common.compress.Compression;
import dev.millrace.kafka.common.record.internal.DefaultRecordBatch;
import dev.millrace.kafka.common.record.internal.MemoryRecords;
import dev.millrace.kafka.common.record.internal.MemoryRecordsBuilder;
import dev.millrace.kafka.common.record.internal.MutableRecordBatch;
import dev.millrace.kafka.common.record.internal.RecordBatch;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;

/** A batch written by us and one written by Kafka's own builder must be the same bytes. */
class BatchHeaderTest {
    private static final int BATCH_SIZE = 4_096;

    private final TestAccumulator parts = new TestAccumulator(1 << 20, BATCH_SIZE);

    @Test
    void shouldHaveTheSizeThatKafkaGivesABatchHeader() {
        assertThat(BatchLayout.HEADER_SIZE).isEqualTo(DefaultRecordBatch.RECORD_BATCH_OVERHEAD);
    }

    @Test
    void shouldBeByteForByteWhatKafkaWritesWhenBatchesAreRandom() {
        Random random = Seed.random("BatchHeaderTest");

        for (int i = 0; i < 500; i++) {
            List<TestRecord> records = new ArrayList<>();
            FinishedBatch batch = randomBatch(random, records);
            long producerId = random.nextLong() >>> 1;
            short epoch = (short) random.nextInt(Short.MAX_VALUE);
            int sequence = random.nextInt() & Integer.MAX_VALUE;

            batch.stamp(producerId, epoch, sequence);

            byte[] ours = Arrays.copyOf(batch.buffer(), batch.size());
            assertThat(ours).isEqualTo(kafkaBytes(records, producerId, epoch, sequence));
        }
    }

    @Test
    void shouldTellKafkaItsProducerAndSequenceWhenStamped() {
        List<TestRecord> records = new ArrayList<>();
        FinishedBatch batch = randomBatch(Seed.random("BatchHeaderTest"), records);

        batch.stamp(77, (short) 3, 1_000);

        MutableRecordBatch read = ReadBack.batch(batch);
        assertThat(read.producerId()).isEqualTo(77);
        assertThat(read.producerEpoch()).isEqualTo((short) 3);
        assertThat(read.baseSequence()).isEqualTo(1_000);
        assertThat(read.lastSequence()).isEqualTo(1_000 + records.size() - 1);
        assertThat(read.lastOffset()).isEqualTo(records.size() - 1);
        assertThat(read.partitionLeaderEpoch()).isEqualTo(RecordBatch.NO_PARTITION_LEADER_EPOCH);
        assertThat(read.timestampType()).isEqualTo(TimestampType.CREATE_TIME);
        assertThat(read.isTransactional()).isFalse();
        assertThat(read.isControlBatch()).isFalse();
    }

    @Test
    void shouldStayValidWhenStampedAnewForANewEpoch() {
        FinishedBatch batch = randomBatch(Seed.random("BatchHeaderTest"), new ArrayList<>());
        batch.stamp(77, (short) 3, 1_000);

        batch.stamp(77, (short) 4, 0);

        MutableRecordBatch read = ReadBack.batch(batch);
        assertThat(read.producerEpoch()).isEqualTo((short) 4);
        assertThat(read.baseSequence()).isZero();
    }

    @Test
    void shouldHaveNoProducerWhenStampedWithoutOne() {
        FinishedBatch batch = randomBatch(Seed.random("BatchHeaderTest"), new ArrayList<>());

        batch.stamp(RecordBatch.NO_PRODUCER_ID, RecordBatch.NO_PRODUCER_EPOCH, RecordBatch.NO_SEQUENCE);

        assertThat(ReadBack.batch(batch).hasProducerId()).isFalse();
    }

    @Test
    void shouldBeRefusedByKafkaWhenAnyByteIsDamaged() {
        FinishedBatch batch = randomBatch(Seed.random("BatchHeaderTest"), new ArrayList<>());
        batch.stamp(77, (short) 3, 1_000);
        int attributes = 21;

        for (int at = attributes; at < batch.size(); at++) {
            batch.buffer()[at] ^= 1;
            assertThatThrownBy(() -> ReadBack.batch(batch))
                    .as("byte %d", at)
                    .isInstanceOf(CorruptRecordException.class);
            batch.buffer()[at] ^= 1;
        }
    }

    private FinishedBatch randomBatch(Random random, List<TestRecord> records) {
        TestRecord first = TestRecord.random(random, 200);
        OpenBatch batch = parts.openBatch(BATCH_SIZE, first.timestamp());
        for (TestRecord record = first;
                batch.tryAppend(record.encodable(), null) != null;
                record = TestRecord.random(random, 200)) {
            records.add(record);
        }
        assertThat(records).isNotEmpty();
        return batch.finished();
    }

    private static byte[] kafkaBytes(List<TestRecord> records, long producerId, short epoch, int sequence) {
        try (MemoryRecordsBuilder builder = MemoryRecords.builder(
                ByteBuffer.allocate(BATCH_SIZE * 2),
                RecordBatch.MAGIC_VALUE_V2,
                Compression.NONE,
                TimestampType.CREATE_TIME,
                0,
                RecordBatch.NO_TIMESTAMP,
                producerId,
                epoch,
                sequence)) {
            for (TestRecord record : records) {
                builder.append(record.timestamp(), record.keyBuffer(), record.valueBuffer(), record.headers());
            }
            ByteBuffer built = builder.build().buffer();
            byte[] bytes = new byte[built.remaining()];
            built.get(bytes);
            return bytes;
        }
    }
}
