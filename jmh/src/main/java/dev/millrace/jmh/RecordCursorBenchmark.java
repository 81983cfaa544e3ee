package dev.millrace.jmh;

import dev.millrace.mirror.kafka.Decompressor;
import dev.millrace.mirror.pass.RecordCursor;
import dev.millrace.mirror.pass.SourceBatch;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.BufferSupplier;
import org.apache.kafka.common.utils.CloseableIterator;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Reads the records of a fetched batch, checksum included: {@value #RECORDS} records of {@value #VALUE_SIZE} bytes, lines
 * of words. An operation is a record, so that {@code -bm avgt -tu ns} shows nanoseconds a record.
 * <ul>
 *   <li>{@code millrace}: {@code RecordCursor}, up to the slice that is copied into a new batch;
 *   <li>{@code codec}: checksum and decompression alone, what no reader can avoid;
 *   <li>{@code kafka431}: the iterator of the published kafka-clients that its consumer uses.
 * </ul>
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
@OperationsPerInvocation(RecordCursorBenchmark.RECORDS)
@State(Scope.Thread)
public class RecordCursorBenchmark {
    static final int RECORDS = 590;
    static final int VALUE_SIZE = 100;

    private static final int HEADER_SIZE = 61;
    private static final int PIECE_SIZE = 64 << 10;
    private static final String[] WORDS = {
        "account", "basket", "cancelled", "delivery", "error", "forwarded", "gateway", "handled", "invoice", "joined"
    };

    /** The codec of the batch. */
    @Param({"none", "snappy", "lz4", "zstd", "gzip"})
    String codec;

    private final SourceBatch batch = new SourceBatch();
    private final RecordCursor cursor = new RecordCursor();
    private final Decompressor decompressor = new Decompressor();
    private final byte[] piece = new byte[PIECE_SIZE];
    private final BufferSupplier buffers = BufferSupplier.create();
    private ByteBuffer fetched;

    /** Throws unless all see the same records. */
    @Setup
    public void fill() throws IOException {
        fetched = batch(CompressionType.forName(codec));
        if (millrace() != kafka431() || (batch.codecId() != 0 && codec() == 0)) {
            throw new IllegalStateException("The two readers do not read the same");
        }
    }

    private static ByteBuffer batch(CompressionType type) {
        SplittableRandom random = new SplittableRandom(1);
        try (MemoryRecordsBuilder builder = MemoryRecords.builder(
                ByteBuffer.allocate(PIECE_SIZE),
                RecordBatch.CURRENT_MAGIC_VALUE,
                Compression.of(type).build(),
                TimestampType.CREATE_TIME,
                1_000_000)) {
            for (int i = 0; i < RECORDS; i++) {
                StringBuilder line = new StringBuilder().append(i);
                while (line.length() < VALUE_SIZE) {
                    line.append(' ').append(WORDS[random.nextInt(WORDS.length)]);
                }
                line.setLength(VALUE_SIZE);
                builder.append(
                        1_700_000_000_000L + i / 10, null, line.toString().getBytes(StandardCharsets.US_ASCII));
            }
            return builder.build().buffer();
        }
    }

    /** Millrace. */
    @Benchmark
    public long millrace() {
        batch.wrap(fetched);
        batch.moveToNext();
        cursor.open(batch, 0);
        long sum = 0;
        while (cursor.moveNext()) {
            int afterValue = cursor.start() + cursor.length() - 1; // the number of headers
            sum += cursor.offset() + cursor.timestamp() + cursor.array()[afterValue - 1];
        }
        return sum;
    }

    /** The codec alone. */
    @Benchmark
    public long codec() throws IOException {
        batch.wrap(fetched);
        batch.moveToNext();
        batch.checkIntegrity();
        if (batch.codecId() == 0) {
            return 0;
        }
        ByteBuffer records = fetched.duplicate();
        records.position(records.position() + HEADER_SIZE);
        long sum = 0;
        try (InputStream stream = decompressor.decompress(batch.codecId(), records)) {
            for (int read = stream.read(piece); read > 0; read = stream.read(piece)) {
                sum += read;
            }
        }
        return sum;
    }

    /** Kafka's iterator. */
    @Benchmark
    public long kafka431() {
        MutableRecordBatch source =
                MemoryRecords.readableRecords(fetched).batchIterator().next();
        source.ensureValid();
        long sum = 0;
        try (CloseableIterator<Record> records = source.streamingIterator(buffers)) {
            while (records.hasNext()) {
                Record next = records.next();
                ByteBuffer value = next.value();
                sum += next.offset() + next.timestamp() + value.get(value.limit() - 1);
            }
        }
        return sum;
    }
}
