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
 * What no producer on this machine can do without, for each record of 100 bytes in batches of 64 KiB: the time of day, the
 * value's copy into the batch, one pass for the checksum, the copy to memory that the kernel can read, and the way through
 * the loopback. Batches are taken in turn from 32 MB, as they are when {@code buffer.memory} is used up.
 *
 * <p>And what it costs that all threads write to the same partitions: room is claimed, a value copied and the record
 * committed with one atomic addition each, in batches that all share, or that are each thread's own.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class LimitBenchmark {
    private static final int BATCH = 64 << 10;
    private static final int VALUE = 100;

    /** With its length, offset, timestamp and the lengths of key, value and headers. */
    private static final int RECORD = 107;

    private static final int RECORDS = BATCH / RECORD;

    /** {@code buffer.memory}, of all threads together. */
    @State(Scope.Benchmark)
    public static class Memory {
        private final byte[][] batches = new byte[(32 << 20) / BATCH][BATCH];
        private final AtomicInteger threads = new AtomicInteger();
    }

    /** One thread's way through the memory. */
    @State(Scope.Thread)
    public static class Walk {
        private static final int FAR = 37;

        private final byte[] value = new byte[VALUE];
        private final ByteBuffer direct = ByteBuffer.allocateDirect(BATCH);
        private byte[][] batches;
        private int last;
        private int lastPartition;

        @Setup
        public void start(Memory memory) {
            batches = memory.batches;
            last = memory.threads.getAndIncrement() * FAR % batches.length;
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

    /** A connection of its own for each thread, and somebody who reads and forgets. */
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
                ByteBuffer buffer = ByteBuffer.allocateDirect(BATCH);
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

    /** The open batches of 32 partitions, 32 MB in all; each with the word by which room is claimed and that of the commits. */
    private static final class Partitions {
        private static final int COUNT = 32;
        private static final int SIZE = 1 << 20;
        private static final int LINE = 64 / Long.BYTES;

        private final byte[][] batches;
        private final int mask;
        private final AtomicLongArray words = new AtomicLongArray((COUNT + 1) * 2 * LINE);

        Partitions(int size) {
            batches = new byte[COUNT][size + VALUE];
            mask = size - 1;
        }

        byte[] write(int partition, byte[] value) {
            int word = (2 * partition + 1) * LINE;
            int position = (int) words.getAndAdd(word, RECORD) & mask;
            System.arraycopy(value, 0, batches[partition], position, VALUE);
            words.getAndIncrement(word + 1);
            return batches[partition];
        }
    }

    /** All threads' partitions. */
    @State(Scope.Benchmark)
    public static class Shared {
        private final Partitions partitions = new Partitions(Partitions.SIZE);
    }

    /** One thread's partitions. With the others' they take as much memory as the shared ones. */
    @State(Scope.Thread)
    public static class Own {
        private Partitions partitions;

        @Setup
        public void divide(BenchmarkParams params) {
            partitions = new Partitions(Integer.highestOneBit(Partitions.SIZE / params.getThreads()));
        }
    }

    /** The time of day, to the millisecond. */
    @Benchmark
    public long clock() {
        return System.currentTimeMillis();
    }

    /** Values into a batch. */
    @Benchmark
    @OperationsPerInvocation(RECORDS)
    public byte[] copy(Walk walk) {
        byte[] batch = walk.next();
        for (int i = 0; i < RECORDS; i++) {
            System.arraycopy(walk.value, 0, batch, i * RECORD, VALUE);
        }
        return batch;
    }

    /** A record each into batches that all threads write to. */
    @Benchmark
    public byte[] writeToShared(Shared shared, Walk walk) {
        return shared.partitions.write(walk.nextPartition(), walk.value);
    }

    /** A record each into batches that no other thread writes to. */
    @Benchmark
    public byte[] writeToOwn(Own own, Walk walk) {
        return own.partitions.write(walk.nextPartition(), walk.value);
    }

    /** One pass over a batch. */
    @Benchmark
    @OperationsPerInvocation(RECORDS)
    public long checksum(Walk walk) {
        CRC32C crc = new CRC32C();
        crc.update(walk.next(), 0, RECORDS * RECORD);
        return crc.getValue();
    }

    /** A batch to memory outside the heap. */
    @Benchmark
    @OperationsPerInvocation(RECORDS)
    public ByteBuffer copyToDirect(Walk walk) {
        return walk.direct.clear().put(walk.next(), 0, RECORDS * RECORD);
    }

    /** A batch from there to whoever reads it; the CPU is that of both ends. */
    @Benchmark
    @OperationsPerInvocation(RECORDS)
    public void loopback(Walk walk, Connection connection) throws IOException {
        ByteBuffer batch = walk.direct.clear().limit(RECORDS * RECORD);
        while (batch.hasRemaining()) {
            connection.out.write(batch);
        }
    }
}
