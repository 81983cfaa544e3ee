package dev.millrace.jmh;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.zip.CRC32C;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * The work that every producer on this machine must do for a record of 100 bytes in batches of 64 KiB: read the time of
 * day, copy the value into the batch, calculate the checksum in one pass, copy the batch to memory that the kernel can
 * read, and send it through the loopback. Batches are taken in turn from 32 MB, as when {@code buffer.memory} is used
 * up.
 *
 * <p>It also measures what it costs if all threads write to the same partitions: claiming room and committing the
 * record take one atomic addition each, in batches that all threads share or that belong to one thread.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class LimitBenchmark {
    private static final int BATCH_SIZE = 64 << 10;
    private static final int VALUE_SIZE = 100;

    /** The value, the record's length, offset and timestamp, and the lengths of key, value and headers. */
    private static final int RECORD_SIZE = 107;

    private static final int RECORDS_PER_BATCH = BATCH_SIZE / RECORD_SIZE;

    /** The {@code buffer.memory} of all threads together. */
    @State(Scope.Benchmark)
    public static class Memory {
        private final byte[][] batches = new byte[(32 << 20) / BATCH_SIZE][BATCH_SIZE];
        private final AtomicInteger threads = new AtomicInteger();
    }

    /** One thread's position in the memory and among the partitions. */
    @State(Scope.Thread)
    public static class Cursor {
        private static final int START_STRIDE = 37;

        private final byte[] value = new byte[VALUE_SIZE];
        private final ByteBuffer direct = ByteBuffer.allocateDirect(BATCH_SIZE);
        private byte[][] batches;
        private int last;
        private int lastPartition;

        @Setup
        public void start(Memory memory) {
            batches = memory.batches;
            last = memory.threads.getAndIncrement() * START_STRIDE % batches.length;
        }

        byte[] next() {
            last = last + 1 < batches.length ? last + 1 : 0;
            return batches[last];
        }

        int nextPartition() {
            lastPartition = (lastPartition + 1) % Partitions.COUNT;
            return lastPartition;
        }
    }

    /** A connection for each thread, and a thread that reads from it and drops the bytes. */
    @State(Scope.Thread)
    public static class Connection {
        private SocketChannel out;
        private Thread reader;

        @Setup
        public void connect() throws IOException {
            try (ServerSocketChannel server = ServerSocketChannel.open()) {
                server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                out = SocketChannel.open(server.getLocalAddress());
                SocketChannel in = server.accept();
                reader = new Thread(() -> readAll(in), "reader");
                reader.start();
            }
        }

        private static void readAll(SocketChannel in) {
            try (in) {
                ByteBuffer buffer = ByteBuffer.allocateDirect(BATCH_SIZE);
                while (in.read(buffer) >= 0) {
                    buffer.clear();
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        @TearDown
        public void close() throws IOException, InterruptedException {
            out.close();
            reader.join();
        }
    }

    /** The open batches of 32 partitions, 32 MB in all. Each has a word for claims and a word for commits. */
    private static final class Partitions {
        private static final int COUNT = 32;
        private static final int SIZE = 1 << 20;
        private static final int WORDS_PER_CACHE_LINE = 64 / Long.BYTES;

        private final byte[][] batches;
        private final int mask;
        private final AtomicLongArray words = new AtomicLongArray((COUNT + 1) * 2 * WORDS_PER_CACHE_LINE);

        Partitions(int size) {
            batches = new byte[COUNT][size + VALUE_SIZE];
            mask = size - 1;
        }

        byte[] write(int partition, byte[] value) {
            int word = (2 * partition + 1) * WORDS_PER_CACHE_LINE;
            int position = (int) words.getAndAdd(word, RECORD_SIZE) & mask;
            System.arraycopy(value, 0, batches[partition], position, VALUE_SIZE);
            words.getAndIncrement(word + 1);
            return batches[partition];
        }
    }

    /** Partitions that all threads share. */
    @State(Scope.Benchmark)
    public static class Shared {
        private final Partitions partitions = new Partitions(Partitions.SIZE);
    }

    /** The partitions of one thread. Those of all threads together take as much memory as the shared ones. */
    @State(Scope.Thread)
    public static class Own {
        private Partitions partitions;

        @Setup
        public void divide(BenchmarkParams params) {
            partitions = new Partitions(Integer.highestOneBit(Partitions.SIZE / params.getThreads()));
        }
    }

    /** Reads the time of day, in milliseconds. */
    @Benchmark
    public long clock() {
        return System.currentTimeMillis();
    }

    /** Copies values into a batch. */
    @Benchmark
    @OperationsPerInvocation(RECORDS_PER_BATCH)
    public byte[] copy(Cursor cursor) {
        byte[] batch = cursor.next();
        for (int i = 0; i < RECORDS_PER_BATCH; i++) {
            System.arraycopy(cursor.value, 0, batch, i * RECORD_SIZE, VALUE_SIZE);
        }
        return batch;
    }

    /** Writes a record into a batch that all threads write to. */
    @Benchmark
    public byte[] writeToShared(Shared shared, Cursor cursor) {
        return shared.partitions.write(cursor.nextPartition(), cursor.value);
    }

    /** Writes a record into a batch that no other thread writes to. */
    @Benchmark
    public byte[] writeToOwn(Own own, Cursor cursor) {
        return own.partitions.write(cursor.nextPartition(), cursor.value);
    }

    /** Calculates the checksum of a batch in one pass. */
    @Benchmark
    @OperationsPerInvocation(RECORDS_PER_BATCH)
    public long checksum(Cursor cursor) {
        CRC32C crc = new CRC32C();
        crc.update(cursor.next(), 0, RECORDS_PER_BATCH * RECORD_SIZE);
        return crc.getValue();
    }

    /** Copies a batch to memory outside the heap. */
    @Benchmark
    @OperationsPerInvocation(RECORDS_PER_BATCH)
    public ByteBuffer copyToDirect(Cursor cursor) {
        return cursor.direct.clear().put(cursor.next(), 0, RECORDS_PER_BATCH * RECORD_SIZE);
    }

    /** Sends a batch from there to its reader; the CPU time includes both ends. */
    @Benchmark
    @OperationsPerInvocation(RECORDS_PER_BATCH)
    public void loopback(Cursor cursor, Connection connection) throws IOException {
        ByteBuffer batch = cursor.direct.clear().limit(RECORDS_PER_BATCH * RECORD_SIZE);
        while (batch.hasRemaining()) {
            connection.out.write(batch);
        }
    }
}
