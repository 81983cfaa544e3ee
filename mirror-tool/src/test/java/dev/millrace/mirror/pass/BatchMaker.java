package dev.millrace.mirror.pass;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.DefaultRecordBatch;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.ByteBufferOutputStream;
import org.apache.kafka.common.utils.Crc32C;

/** Makes batches with the published kafka-clients, as producers and brokers would. */
public final class BatchMaker {
    static final long TIMESTAMP = 1_700_000_000_000L;
    static final int LEADER_EPOCH = 7;
    private static final int LENGTH_AT = 8;
    private static final int LENGTH_END = 12;
    private static final int CRC_AT = 17;
    private static final int ATTRIBUTES_AT = 21;
    private static final Header[] NO_HEADERS = {};

    private final long baseOffset;
    private final List<Appended> records = new ArrayList<>();
    private byte magic = RecordBatch.CURRENT_MAGIC_VALUE;
    private CompressionType codec = CompressionType.NONE;
    private TimestampType timestampType = TimestampType.CREATE_TIME;
    private long logAppendTime = RecordBatch.NO_TIMESTAMP;
    private long deleteHorizon = RecordBatch.NO_TIMESTAMP;
    private long producerId = RecordBatch.NO_PRODUCER_ID;
    private boolean transactional;
    private long lastOffset = -1;

    private record Appended(long offset, long timestamp, byte[] key, byte[] value, Header[] headers) {}

    public BatchMaker(long baseOffset) {
        this.baseOffset = baseOffset;
    }

    public BatchMaker magic(int version) {
        magic = (byte) version;
        return this;
    }

    public BatchMaker codec(CompressionType type) {
        codec = type;
        return this;
    }

    public BatchMaker logAppendTime(long time) {
        timestampType = TimestampType.LOG_APPEND_TIME;
        logAppendTime = time;
        return this;
    }

    public BatchMaker deleteHorizon(long time) {
        deleteHorizon = time;
        return this;
    }

    public BatchMaker producer(long id, boolean inTransaction) {
        producerId = id;
        transactional = inTransaction;
        return this;
    }

    /** As compaction leaves it that removed the last record. */
    public BatchMaker lastOffset(long offset) {
        lastOffset = offset;
        return this;
    }

    public BatchMaker record(long offset, long timestamp, byte[] key, byte[] value, Header... headers) {
        records.add(new Appended(offset, timestamp, key, value, headers));
        return this;
    }

    /** Adds records of about 100 bytes at consecutive offsets. */
    public BatchMaker records(int count) {
        for (int i = 0; i < count; i++) {
            long offset = baseOffset + records.size();
            record(offset, TIMESTAMP + i, utf8("key-" + offset), utf8("value-" + offset + "-".repeat(90)));
        }
        return this;
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Adds records of all shapes; some offsets are left out. */
    public BatchMaker randomRecords(Random random, int count) {
        long offset = baseOffset;
        boolean gaps = random.nextInt(4) == 0;
        for (int i = 0; i < count; i++) {
            Header[] headers = magic < RecordBatch.MAGIC_VALUE_V2 ? NO_HEADERS : randomHeaders(random);
            long timestamp = magic == 0 ? RecordBatch.NO_TIMESTAMP : TIMESTAMP + random.nextInt(1_000_000) - 500_000;
            record(offset, timestamp, randomBytes(random, 40), randomBytes(random, 300), headers);
            offset += gaps ? 1 + random.nextInt(3) : 1;
        }
        return this;
    }

    private static Header[] randomHeaders(Random random) {
        Header[] headers = new Header[random.nextInt(3) == 0 ? random.nextInt(4) : 0];
        for (int i = 0; i < headers.length; i++) {
            headers[i] = new RecordHeader("h\u00e4".repeat(random.nextInt(50)) + i, randomBytes(random, 200));
        }
        return headers;
    }

    private static byte[] randomBytes(Random random, int bound) {
        if (random.nextInt(10) == 0) {
            return null;
        }
        byte[] bytes = new byte[random.nextInt(50) == 0 ? random.nextInt(100_000) : random.nextInt(bound)];
        if (random.nextBoolean()) {
            random.nextBytes(bytes);
        }
        return bytes;
    }

    public ByteBuffer make() {
        ByteBufferOutputStream out = new ByteBufferOutputStream(512);
        try (MemoryRecordsBuilder builder = new MemoryRecordsBuilder(
                out,
                magic,
                Compression.of(codec).build(),
                timestampType,
                baseOffset,
                logAppendTime,
                producerId,
                producerId < 0 ? RecordBatch.NO_PRODUCER_EPOCH : 3,
                producerId < 0 ? RecordBatch.NO_SEQUENCE : 11,
                transactional,
                false,
                magic < RecordBatch.MAGIC_VALUE_V2 ? RecordBatch.NO_PARTITION_LEADER_EPOCH : LEADER_EPOCH,
                Integer.MAX_VALUE,
                deleteHorizon)) {
            for (Appended next : records) {
                builder.appendWithOffset(next.offset, next.timestamp, next.key, next.value, next.headers);
            }
            if (lastOffset >= 0) {
                builder.overrideLastOffset(lastOffset);
            }
            return builder.build().buffer().duplicate();
        }
    }

    /** What compaction leaves of a batch whose records are all gone. */
    public static ByteBuffer empty(
            long baseOffset, long lastOffset, long producerId, boolean transactional, boolean control) {
        ByteBuffer buffer = ByteBuffer.allocate(DefaultRecordBatch.RECORD_BATCH_OVERHEAD);
        DefaultRecordBatch.writeEmptyHeader(
                buffer,
                RecordBatch.CURRENT_MAGIC_VALUE,
                producerId,
                (short) 3,
                11,
                baseOffset,
                lastOffset,
                LEADER_EPOCH,
                TimestampType.CREATE_TIME,
                TIMESTAMP,
                transactional,
                control);
        return buffer.flip();
    }

    public static ByteBuffer marker(long offset, long producerId, EndTransactionMarker marker) {
        return MemoryRecords.withEndTransactionMarker(offset, TIMESTAMP, LEADER_EPOCH, producerId, (short) 3, marker)
                .buffer()
                .duplicate();
    }

    /** A batch that claims to have one record and has these bytes instead. */
    public static ByteBuffer withPayload(long baseOffset, CompressionType codec, byte[] payload) {
        ByteBufferOutputStream out = new ByteBufferOutputStream(512);
        out.write(new BatchMaker(baseOffset)
                .codec(codec)
                .records(1)
                .make()
                .limit(DefaultRecordBatch.RECORD_BATCH_OVERHEAD));
        try (OutputStream compressed =
                Compression.of(codec).build().wrapForOutput(out, RecordBatch.CURRENT_MAGIC_VALUE)) {
            compressed.write(payload);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        ByteBuffer batch = out.buffer().flip();
        return withChecksum(batch.putInt(LENGTH_AT, batch.remaining() - LENGTH_END));
    }

    public static ByteBuffer join(List<ByteBuffer> batches) {
        ByteBuffer joined = ByteBuffer.allocate(
                batches.stream().mapToInt(ByteBuffer::remaining).sum());
        batches.forEach(batch -> joined.put(batch.duplicate()));
        return joined.flip();
    }

    /** Makes the checksum fit after a test has changed something: what a producer with a fault would send. */
    public static ByteBuffer withChecksum(ByteBuffer batch) {
        int size = batch.remaining();
        return batch.putInt(CRC_AT, (int) Crc32C.compute(batch, ATTRIBUTES_AT, size - ATTRIBUTES_AT));
    }

    static SourceBatch first(ByteBuffer batches) {
        SourceBatch batch = new SourceBatch();
        batch.wrap(batches);
        if (!batch.moveToNext()) {
            throw new AssertionError("no batch");
        }
        return batch;
    }
}
