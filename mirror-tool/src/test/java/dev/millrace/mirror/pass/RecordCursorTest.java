package dev.millrace.mirror.pass;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.ByteUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class RecordCursorTest {
    private static final int HEADER_SIZE = 61;
    private static final int ATTRIBUTES_AT = 21;
    private static final int LAST_OFFSET_DELTA_AT = 23;
    private static final int COUNT_AT = 57;
    private static final int MEGABYTE = 1 << 20;

    private final RecordCursor cursor = new RecordCursor();

    @ParameterizedTest
    @EnumSource(CompressionType.class)
    void shouldReadWhatKafkaReadsWhenRecordsHaveAllShapes(CompressionType codec) {
        BatchMaker batch = new BatchMaker(1_000)
                .codec(codec)
                .record(1_000, 5, null, null)
                .record(1_001, 4, new byte[0], new byte[0])
                .record(1_002, -1, new byte[] {1}, null, new RecordHeader("", null), new RecordHeader("h", new byte[0]))
                .record(1_003, Long.MAX_VALUE / 2, null, new byte[] {2}, new RecordHeader("h", new byte[] {3}))
                .record(1_004, 0, new byte[70], new byte[3 * MEGABYTE])
                .record(1_005, 7, new byte[200_000], new byte[1])
                .records(500);

        assertSameAsKafka(batch.make());
    }

    @ParameterizedTest
    @EnumSource(
            value = CompressionType.class,
            names = {"ZSTD"},
            mode = EnumSource.Mode.EXCLUDE)
    void shouldReadWhatKafkaReadsWhenTheFormatIsOld(CompressionType codec) {
        for (int magic = 0; magic <= 1; magic++) {
            int count = codec == CompressionType.NONE ? 1 : 50;
            BatchMaker batch = new BatchMaker(77).magic(magic).codec(codec);
            for (int i = 0; i < count; i++) {
                batch.record(77 + i, magic == 0 ? -1 : 1_000 - i, i % 3 == 0 ? null : new byte[i], new byte[2 * i]);
            }
            assertSameAsKafka(batch.make());
        }
        assertSameAsKafka(new BatchMaker(5)
                .magic(1)
                .codec(codec)
                .logAppendTime(123)
                .record(5, 99, null, new byte[1])
                .make());
    }

    @Test
    void shouldReadWhatKafkaReadsWhenBatchesAreRandom() {
        long seed = Long.getLong("millrace.seed", System.nanoTime());
        System.out.println("RecordCursorTest runs with -Dmillrace.seed=" + seed);
        Random random = new Random(seed);
        for (int i = 0; i < 150; i++) {
            List<ByteBuffer> batches = new ArrayList<>();
            for (int j = random.nextInt(5); j >= 0; j--) {
                batches.add(randomBatch(random, 1_000L * batches.size()));
            }
            assertSameAsKafka(BatchMaker.join(batches));
        }
    }

    private static ByteBuffer randomBatch(Random random, long baseOffset) {
        int magic = random.nextInt(6) == 0 ? random.nextInt(2) : 2;
        CompressionType codec = CompressionType.forId(random.nextInt(magic == 2 ? 5 : 4));
        boolean single = magic < 2 && codec == CompressionType.NONE;
        BatchMaker batch = new BatchMaker(baseOffset).magic(magic).codec(codec);
        if (magic > 0 && random.nextInt(4) == 0) {
            batch.logAppendTime(random.nextInt(1_000_000));
        }
        if (magic == 2) {
            long producerId = random.nextInt(4) - 1L;
            batch.producer(producerId, producerId >= 0 && random.nextInt(4) == 0);
            if (random.nextInt(4) == 0) {
                batch.deleteHorizon(random.nextInt(1_000_000));
            }
            if (random.nextInt(10) == 0) {
                return BatchMaker.empty(baseOffset, baseOffset + random.nextInt(9), 4, random.nextBoolean(), false);
            }
        }
        return batch.randomRecords(random, single ? 1 : 1 + random.nextInt(300)).make();
    }

    /** All records, and those from the middle of each batch on, however the bytes lie in memory. */
    private void assertSameAsKafka(ByteBuffer batches) {
        assertSameAsKafka(batches, batches);
        ByteBuffer direct = ByteBuffer.allocateDirect(batches.remaining() + 20).position(9);
        direct.put(batches.duplicate()).flip().position(9);
        assertSameAsKafka(batches, direct);
        assertSameAsKafka(batches, batches.asReadOnlyBuffer());
        ByteBuffer slice =
                ByteBuffer.allocate(batches.remaining() + 9).position(9).slice();
        assertSameAsKafka(batches, slice.put(batches.duplicate()).flip());
    }

    private void assertSameAsKafka(ByteBuffer batches, ByteBuffer fetched) {
        SourceBatch batch = new SourceBatch();
        batch.wrap(fetched);
        for (RecordBatch expected : MemoryRecords.readableRecords(batches).batches()) {
            assertThat(batch.moveToNext()).isTrue();
            long middle = (batch.baseOffset() + batch.lastOffset()) / 2;
            for (long from : new long[] {0, middle}) {
                cursor.open(batch, from);
                for (Record record : expected) {
                    if (record.offset() >= from) {
                        assertThat(cursor.moveNext()).isTrue();
                        assertSame(record);
                    }
                }
                assertThat(cursor.moveNext()).isFalse();
                assertThat(cursor.moveNext()).isFalse();
            }
        }
        assertThat(batch.moveToNext()).isFalse();
    }

    private void assertSame(Record expected) {
        assertThat(cursor.offset()).isEqualTo(expected.offset());
        assertThat(cursor.timestamp()).isEqualTo(expected.timestamp());
        ByteBuffer content = ByteBuffer.wrap(cursor.array(), cursor.start(), cursor.length());
        assertThat(field(content)).isEqualTo(expected.key());
        assertThat(field(content)).isEqualTo(expected.value());
        Header[] headers = new Header[ByteUtils.readVarint(content)];
        for (int i = 0; i < headers.length; i++) {
            headers[i] = new RecordHeader(field(content), field(content));
        }
        assertThat(headers).isEqualTo(expected.headers());
        assertThat(content.hasRemaining()).isFalse();
    }

    private static ByteBuffer field(ByteBuffer content) {
        int size = ByteUtils.readVarint(content);
        if (size < 0) {
            return null;
        }
        ByteBuffer field = content.slice().limit(size);
        content.position(content.position() + size);
        return field.slice();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void shouldStartAtThePositionWhenItIsInsideTheBatch(int magic) {
        CompressionType codec = CompressionType.LZ4;
        ByteBuffer bytes =
                new BatchMaker(100).magic(magic).codec(codec).records(10).make();

        assertThat(offsets(bytes, 0)).hasSize(10).startsWith(100L).endsWith(109L);
        assertThat(offsets(bytes, 107)).containsExactly(107L, 108L, 109L);
        assertThat(offsets(bytes, 110)).isEmpty();
    }

    @Test
    void shouldStartAtTheNextRecordWhenThePositionWasCompactedAway() {
        ByteBuffer bytes = new BatchMaker(100)
                .record(100, 1, null, null)
                .record(105, 1, null, null)
                .lastOffset(109)
                .make();

        assertThat(offsets(bytes, 101)).containsExactly(105L);
        assertThat(offsets(bytes, 106)).isEmpty();
    }

    @Test
    void shouldReadTheNextBatchWhenOneIsLeftInTheMiddle() {
        ByteBuffer bytes =
                new BatchMaker(0).codec(CompressionType.ZSTD).records(5_000).make();
        for (int i = 0; i < 3; i++) {
            cursor.open(BatchMaker.first(bytes), 0);
            assertThat(cursor.moveNext()).isTrue();
        }
        assertThat(offsets(bytes, 0)).hasSize(5_000);
        cursor.open(BatchMaker.first(bytes), 0);
        cursor.close();
        assertThat(cursor.moveNext()).isFalse();
    }

    private List<Long> offsets(ByteBuffer bytes, long from) {
        List<Long> offsets = new ArrayList<>();
        cursor.open(BatchMaker.first(bytes), from);
        while (cursor.moveNext()) {
            offsets.add(cursor.offset());
        }
        return offsets;
    }

    @ParameterizedTest
    @EnumSource(
            value = CompressionType.class,
            names = {"NONE"},
            mode = EnumSource.Mode.EXCLUDE)
    void shouldUseNoMoreMemoryThanARecordWhenABatchDecompressesToMuchMore(CompressionType codec) {
        BatchMaker large = new BatchMaker(0).codec(codec);
        for (int i = 0; i < 100; i++) {
            large.record(i, 1, null, new byte[MEGABYTE]);
        }
        cursor.open(BatchMaker.first(large.make()), 0);
        int records = 0;
        while (cursor.moveNext()) {
            assertThat(cursor.array().length).isLessThanOrEqualTo(2 * MEGABYTE);
            records++;
        }
        assertThat(records).isEqualTo(100);

        ByteBuffer small = new BatchMaker(0).codec(codec).records(1).make();
        cursor.open(BatchMaker.first(small), 0);
        assertThat(cursor.moveNext()).isTrue();
        assertThat(cursor.array().length).as("the large buffer is not kept").isLessThanOrEqualTo(MEGABYTE);
    }

    @ParameterizedTest
    @EnumSource(CompressionType.class)
    void shouldNotOpenABatchWhenItsChecksumIsWrong(CompressionType codec) {
        ByteBuffer bytes = new BatchMaker(42).codec(codec).records(10).make();
        int last = bytes.limit() - 1;
        bytes.put(last, (byte) (bytes.get(last) + 1));

        assertCorrupt(bytes, "The batch at offset 42 has the checksum");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldNotReadABatchOfAnOldFormatWhenItIsCorrupt(int magic) {
        for (CompressionType codec : List.of(CompressionType.NONE, CompressionType.GZIP)) {
            ByteBuffer bytes =
                    new BatchMaker(42).magic(magic).codec(codec).records(1).make();
            int last = bytes.limit() - 1;
            bytes.put(last, (byte) (bytes.get(last) + 1));

            assertCorrupt(bytes, "The batch at offset 42 cannot be converted from its older format");
        }
    }

    @ParameterizedTest
    @EnumSource(CompressionType.class)
    void shouldFailWhenThereAreMoreOrFewerRecordsThanTheHeaderSays(CompressionType codec) {
        ByteBuffer more = new BatchMaker(42).codec(codec).records(10).make();
        assertCorrupt(BatchMaker.withChecksum(more.putInt(COUNT_AT, 9)), "has bytes after its last record");

        ByteBuffer fewer = new BatchMaker(42).codec(codec).records(10).make();
        fewer.putInt(COUNT_AT, 11).putInt(LAST_OFFSET_DELTA_AT, 10);
        assertCorrupt(BatchMaker.withChecksum(fewer), "ends within a record");
    }

    @Test
    void shouldFailWhenALengthInARecordIsWrong() {
        // One record: size, attributes, timestamp delta, offset delta, key size, key, value size, value, header count.
        byte[] key = {1, 2};
        ByteBuffer good = new BatchMaker(42)
                .record(42, 1, key, new byte[] {3}, new RecordHeader("h", null))
                .make();
        int keySizeAt = HEADER_SIZE + 4;
        int valueSizeAt = keySizeAt + 1 + key.length;
        int headersAt = valueSizeAt + 2;

        assertThat(ByteUtils.readVarint(good.duplicate().position(headersAt))).isEqualTo(1);
        assertCorrupt(changed(good, HEADER_SIZE, 40), "has a record of 20 bytes and only 12 bytes left");
        assertCorrupt(changed(good, HEADER_SIZE, 3), "has a record of -2 bytes");
        assertCorrupt(changed(good, HEADER_SIZE, 20), "in a record that ends after");
        assertCorrupt(changed(good, keySizeAt, 60), "has 30 bytes in a record that ends after");
        assertCorrupt(changed(good, valueSizeAt, 60), "has 30 bytes in a record that ends after");
        assertCorrupt(changed(good, headersAt, 0), "has a record with 3 bytes after its headers");
        assertCorrupt(changed(good, headersAt, 4), "ends within a record");
        assertCorrupt(changed(good, headersAt, 1), "has a record with -1 headers");
        assertCorrupt(changed(good, headersAt + 1, 1), "has a header without a key");
    }

    private static ByteBuffer changed(ByteBuffer good, int at, int value) {
        ByteBuffer bad =
                ByteBuffer.allocate(good.remaining()).put(good.duplicate()).flip();
        return BatchMaker.withChecksum(bad.put(at, (byte) value));
    }

    @ParameterizedTest
    @EnumSource(CompressionType.class)
    void shouldFailWithoutMuchMemoryWhenARecordSaysThatItIsHuge(CompressionType codec) {
        ByteBuffer lie = ByteBuffer.allocate(200_000); // more than one piece, so that the buffer grows
        ByteUtils.writeVarint(Integer.MAX_VALUE, lie);

        assertCorrupt(
                BatchMaker.withPayload(42, codec, lie.array()),
                "has a record of 2147483647 bytes and only 199995 bytes left");
        assertThat(cursor.array().length).isLessThan(MEGABYTE);
    }

    @Test
    void shouldFailWhenTheCodecIsUnknownOrTheDataIsNotCompressed() {
        for (int codec = 1; codec <= 7; codec++) {
            ByteBuffer bytes = new BatchMaker(42).records(10).make().putShort(ATTRIBUTES_AT, (short) codec);

            assertCorrupt(BatchMaker.withChecksum(bytes), "The batch at offset 42 ");
        }
    }

    private void assertCorrupt(ByteBuffer bytes, String message) {
        SourceBatch batch = BatchMaker.first(bytes);
        assertThatThrownBy(() -> {
                    cursor.open(batch, 0);
                    while (cursor.moveNext()) {
                        assertThat(cursor.length()).isPositive();
                    }
                })
                .isInstanceOf(CorruptRecordException.class)
                .hasMessageContaining(message);
        assertThat(cursor.moveNext()).as("nothing is read after a failure").isFalse();
    }
}
