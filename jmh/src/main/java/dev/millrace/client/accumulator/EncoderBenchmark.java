package dev.millrace.client.accumulator;

import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.DefaultRecord;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.ByteBufferOutputStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Encodes records with an 8-byte key and a 100-byte value one after the other into a batch of 64 KiB, then starts
 * again. Each thread has its own batch; nothing is shared.
 * <ul>
 *   <li>{@code millrace}: {@code RecordEncoder} into a byte array, headers encoded first as {@code send} does;
 *   <li>{@code kafka431}: {@code DefaultRecord.writeTo} through the streams that the stock client writes through;
 *   <li>{@code kafka431Builder}: {@code MemoryRecordsBuilder}, which calls {@code writeTo} and keeps the counts
 *       of the batch, as the stock client does under its lock. It checks for room and opens a new batch, as the others do.
 * </ul>
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class EncoderBenchmark {
    private static final int BATCH_SIZE = 64 << 10;
    private static final int KEY_SIZE = 8;
    private static final int VALUE_SIZE = 100;
    private static final long TIMESTAMP = 1_700_000_000_000L;
    private static final int FEW_RECORDS = 200;

    /** The record of a thread. */
    @State(Scope.Thread)
    public static class Sent {
        /** How many headers of 16 bytes a record has. */
        @Param("0")
        int headers;

        final byte[] key = new byte[KEY_SIZE];
        final byte[] value = new byte[VALUE_SIZE];
        Header[] headerArray;
        int sizeUpperBound;

        @Setup
        public void fill() {
            Arrays.fill(key, (byte) 'k');
            Arrays.fill(value, (byte) 'v');
            headerArray = new Header[headers];
            Arrays.fill(headerArray, new RecordHeader("trace-id", new byte[KEY_SIZE]));
            sizeUpperBound = RecordEncoder.batchSizeUpperBound(
                    new EncodableRecord(TIMESTAMP, key, value, RecordEncoder.encodeHeaders(headerArray)));
        }
    }

    /** A thread's batch, written by Millrace. */
    @State(Scope.Thread)
    public static class MillraceBatch {
        private final byte[] buffer = new byte[BATCH_SIZE];
        private int position;
        private int index;

        int write(Sent sent) {
            byte[] headers = RecordEncoder.encodeHeaders(sent.headerArray);
            EncodableRecord record = new EncodableRecord(TIMESTAMP, sent.key, sent.value, headers);
            if (position + sent.sizeUpperBound > BATCH_SIZE) {
                position = 0;
                index = 0;
            }
            position = RecordEncoder.write(buffer, position, index++, 0, record);
            return position;
        }
    }

    /** A thread's batch, written by {@code DefaultRecord}. */
    @State(Scope.Thread)
    public static class Kafka431Batch {
        private final ByteBufferOutputStream bytes = new ByteBufferOutputStream(ByteBuffer.allocate(BATCH_SIZE));
        private final DataOutputStream out = new DataOutputStream(bytes);
        private int index;

        /** Throws unless both sides write the same bytes. */
        @Setup
        public void compare(Sent sent) throws IOException {
            MillraceBatch ours = new MillraceBatch();
            int end = 0;
            for (int i = 0; i < FEW_RECORDS; i++) {
                end = ours.write(sent);
                write(sent);
            }
            if (bytes.position() != end || !Arrays.equals(bytes.buffer().array(), 0, end, ours.buffer, 0, end)) {
                throw new IllegalStateException("The two encoders do not write the same");
            }
        }

        int write(Sent sent) throws IOException {
            if (bytes.position() + sent.sizeUpperBound > BATCH_SIZE) {
                bytes.position(0);
                index = 0;
            }
            return DefaultRecord.writeTo(
                    out, index++, 0, ByteBuffer.wrap(sent.key), ByteBuffer.wrap(sent.value), sent.headerArray);
        }
    }

    /** A thread's batch, written by {@code MemoryRecordsBuilder}. */
    @State(Scope.Thread)
    public static class Kafka431Builder {
        private final ByteBuffer buffer = ByteBuffer.allocate(BATCH_SIZE);
        private MemoryRecordsBuilder builder;

        int write(Sent sent) {
            if (builder == null || !builder.hasRoomFor(TIMESTAMP, sent.key, sent.value, sent.headerArray)) {
                buffer.clear();
                builder = new MemoryRecordsBuilder(
                        buffer,
                        RecordBatch.MAGIC_VALUE_V2,
                        Compression.NONE,
                        TimestampType.CREATE_TIME,
                        0,
                        RecordBatch.NO_TIMESTAMP,
                        RecordBatch.NO_PRODUCER_ID,
                        RecordBatch.NO_PRODUCER_EPOCH,
                        RecordBatch.NO_SEQUENCE,
                        false,
                        false,
                        RecordBatch.NO_PARTITION_LEADER_EPOCH,
                        BATCH_SIZE);
            }
            builder.append(TIMESTAMP, sent.key, sent.value, sent.headerArray);
            return builder.numRecords();
        }
    }

    /** Millrace. */
    @Benchmark
    public int millrace(MillraceBatch batch, Sent sent) {
        return batch.write(sent);
    }

    /** Only the record. */
    @Benchmark
    public int kafka431(Kafka431Batch batch, Sent sent) throws IOException {
        return batch.write(sent);
    }

    /** The record and the batch's bookkeeping. */
    @Benchmark
    public int kafka431Builder(Kafka431Builder batch, Sent sent) {
        return batch.write(sent);
    }
}
