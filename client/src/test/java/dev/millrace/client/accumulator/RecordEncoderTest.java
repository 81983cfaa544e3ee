package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.raw.BatchLayout;
import dev.millrace.kafka.common.record.internal.AbstractRecords;
import dev.millrace.kafka.common.record.internal.CompressionType;
import dev.millrace.kafka.common.record.internal.DefaultRecord;
import dev.millrace.kafka.common.record.internal.RecordBatch;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import org.apache.kafka.common.header.Header;
import org.junit.jupiter.api.Test;

/** Kafka's own {@link DefaultRecord} is the oracle, byte by byte. */
class RecordEncoderTest {
    @Test
    void shouldWriteWhatKafkaWritesWhenRecordsAreRandom() throws IOException {
        Random random = Seed.random("RecordEncoderTest");

        for (int i = 0; i < 5_000; i++) {
            TestRecord record = TestRecord.random(random, i % 50 == 0 ? 20_000 : 200);
            int offsetDelta = random.nextInt(BatchTail.MAX_RECORDS) >> random.nextInt(23);
            long timestampDelta = random.nextLong() >> random.nextInt(64);
            byte[] expected = kafkaBytes(record, offsetDelta, timestampDelta);
            byte[] target = new byte[expected.length + 7];

            int end = RecordEncoder.write(target, 3, offsetDelta, timestampDelta, record.encodable());

            assertThat(end).isEqualTo(3 + expected.length);
            assertThat(Arrays.copyOfRange(target, 3, end)).isEqualTo(expected);
            assertThat(Arrays.copyOfRange(target, end, target.length)).containsOnly(0);
        }
    }

    @Test
    void shouldClaimExactlyWhatItWritesWhenRecordsAreRandom() {
        Random random = Seed.random("RecordEncoderTest");

        for (int i = 0; i < 5_000; i++) {
            EncodableRecord record = TestRecord.random(random, 200).encodable();
            int offsetDelta = random.nextInt(BatchTail.MAX_RECORDS) >> random.nextInt(23);
            long timestampDelta = random.nextLong() >> random.nextInt(64);
            long bodySize = RecordEncoder.bodySize(offsetDelta, timestampDelta, record);

            int end = RecordEncoder.write(new byte[2_000], 0, offsetDelta, timestampDelta, record);

            assertThat(end).isEqualTo(Varint.sizeOf(bodySize) + bodySize);
        }
    }

    @Test
    void shouldEstimateWhatKafkaEstimatesWhenRecordsAreRandom() {
        Random random = Seed.random("RecordEncoderTest");

        for (int i = 0; i < 5_000; i++) {
            TestRecord record = TestRecord.random(random, i % 50 == 0 ? 20_000 : 200);

            int bound = RecordEncoder.batchSizeUpperBound(record.encodable());

            assertThat(bound)
                    .isEqualTo(AbstractRecords.estimateSizeInBytesUpperBound(
                            RecordBatch.MAGIC_VALUE_V2,
                            CompressionType.NONE,
                            record.key(),
                            record.value(),
                            record.headers()));
        }
    }

    @Test
    void shouldFitIntoTheBoundWhenEveryDeltaIsAsLongAsItGets() {
        TestRecord record = TestRecord.random(Seed.random("RecordEncoderTest"), 200);
        EncodableRecord encodable = record.encodable();
        byte[] target = new byte[RecordEncoder.batchSizeUpperBound(encodable)];

        int end =
                RecordEncoder.write(target, BatchLayout.HEADER_SIZE, BatchTail.MAX_RECORDS, Long.MIN_VALUE, encodable);

        assertThat(end).isLessThanOrEqualTo(target.length);
    }

    /** No record has a part as long as that: its upper bound is what {@code send} refuses. */
    @Test
    void shouldCountTheBytesOfTheLongestArraysWhenAnIntHasNotEnough() {
        long longest = RecordEncoder.sizeOf(Integer.MAX_VALUE);

        assertThat(RecordEncoder.sizeOf(-1)).isEqualTo(1);
        assertThat(RecordEncoder.sizeOf(0)).isEqualTo(1);
        assertThat(RecordEncoder.sizeOf(Integer.MAX_VALUE - 4)).isEqualTo(1L << 31);
        assertThat(longest).isEqualTo((1L << 31) + 4);
        assertThat(RecordEncoder.sizeWithoutOffsetDelta(0, 2 * longest)).isEqualTo(2 + 2 * longest);
        assertThat(RecordEncoder.batchSizeUpperBound(2 * longest)).isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    void shouldRefuseHeaderWhenItHasNoKey() {
        Header[] headers = {new HeaderWithoutKey()};

        assertThatThrownBy(() -> RecordEncoder.encodeHeaders(headers))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Header 0");
    }

    private static byte[] kafkaBytes(TestRecord record, int offsetDelta, long timestampDelta) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DefaultRecord.writeTo(
                new DataOutputStream(bytes),
                offsetDelta,
                timestampDelta,
                record.keyBuffer(),
                record.valueBuffer(),
                record.headers());
        return bytes.toByteArray();
    }

    /** Kafka's own class refuses a null key, an application's need not. */
    private static final class HeaderWithoutKey implements Header {
        @Override
        public String key() {
            return null;
        }

        @Override
        public byte[] value() {
            return null;
        }
    }
}
