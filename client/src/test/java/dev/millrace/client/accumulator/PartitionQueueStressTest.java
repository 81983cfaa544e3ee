package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.accumulator.IoModel.Fault;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Threads append to a few partitions through little memory while {@link IoModel} drains them. What comes out must be
 * what each thread put in, in its order, and all memory must come back. Every fault that the model can be given must be
 * noticed.
 */
class PartitionQueueStressTest {
    private static final int WRITERS = 4;
    private static final int PARTITIONS = 3;
    private static final int BATCH_SIZE = 300;

    /** Five batches for three partitions: writers wait for memory all the time. */
    private static final long MEMORY = 5 * BATCH_SIZE;

    @Test
    void shouldKeepOrderAndLoseNothingWhenMemoryIsShort() throws InterruptedException {
        run("PartitionQueueStressTest", 10_000, null);
    }

    @Test
    void shouldKeepOrderAndLoseNothingWhenBatchesGrowAndShrink() throws InterruptedException {
        run("PartitionQueueStressTest/sizes", 10_000, null, new TestAccumulator(20_000, 8_192, new GzipCodec()));
    }

    @ParameterizedTest
    @EnumSource
    void shouldObjectWhenTheIoThreadMakesAMistake(Fault fault) {
        assertThatThrownBy(() -> run("PartitionQueueStressTest/" + fault, 500, fault))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(fault.noticedBy);
    }

    @Test
    void shouldTakeEveryRecordThatGotAFutureWhenClosedInBetween() throws InterruptedException {
        Random random = Seed.random("PartitionQueueStressTest/close");
        for (int round = 0; round < 120; round++) {
            closeInBetween(new Random(random.nextLong()));
        }
    }

    private static void run(String name, int recordsPerWriter, Fault fault) throws InterruptedException {
        run(name, recordsPerWriter, fault, new TestAccumulator(MEMORY, BATCH_SIZE));
    }

    private static void run(String name, int recordsPerWriter, Fault fault, TestAccumulator parts)
            throws InterruptedException {
        Random seeds = Seed.random(name);
        IoModel io = new IoModel(parts, new Random(seeds.nextLong()), fault);
        AtomicInteger writersLeft = new AtomicInteger(WRITERS);
        List<List<RecordFuture>> futures = new ArrayList<>();
        Workers workers = new Workers();
        for (int w = 0; w < WRITERS; w++) {
            int writer = w;
            Random random = new Random(seeds.nextLong());
            List<RecordFuture> mine = new ArrayList<>();
            futures.add(mine);
            workers.add(1, () -> {
                for (int n = 0; n < recordsPerWriter && !workers.hasFailed(); n++) {
                    TestRecord record = record(writer, n, random);
                    mine.add(parts.append("t", random.nextInt(PARTITIONS), record, Workers.HANG_MS));
                }
                writersLeft.decrementAndGet();
                parts.ready.wake();
            });
        }
        workers.add(1, () -> io.runUntil(() -> writersLeft.get() == 0 || workers.hasFailed()));

        try {
            workers.start().join();
        } finally {
            parts.accumulator.close(); // no thread may wait for memory after a failure
        }

        for (int writer = 0; writer < WRITERS; writer++) {
            assertThat(io.taken(writer)).as("records that came out").isEqualTo(recordsPerWriter);
            assertThat(futures.get(writer)).as("futures").doesNotContainNull().allMatch(RecordFuture::isDone);
        }
        assertThat(parts.pool.available()).as("memory given back").isEqualTo(parts.pool.total());
        assertThat(parts.pool.partitionsInUse()).as("partitions in use").isZero();
    }

    private static void closeInBetween(Random seeds) throws InterruptedException {
        TestAccumulator parts = new TestAccumulator(MEMORY, BATCH_SIZE);
        IoModel io = new IoModel(parts, new Random(seeds.nextLong()), null);
        int[] appended = new int[WRITERS];
        List<RecordFuture> futures = new ArrayList<>();
        AtomicInteger writersLeft = new AtomicInteger(WRITERS);
        AtomicInteger written = new AtomicInteger();
        AtomicBoolean closed = new AtomicBoolean();
        int closeAfter = seeds.nextInt(100);
        Workers workers = new Workers();
        for (int w = 0; w < WRITERS; w++) {
            int writer = w;
            Random random = new Random(seeds.nextLong());
            workers.add(1, () -> {
                RecordFuture future;
                List<RecordFuture> mine = new ArrayList<>();
                while ((future = append(parts, writer, mine.size(), random)) != null) {
                    mine.add(future);
                    written.incrementAndGet();
                }
                Workers.until("close() has returned", () -> closed.get() || workers.hasFailed());
                for (int partition = 0; partition < PARTITIONS + 1; partition++) {
                    TestRecord late = TestRecord.ofSize(BATCH_SIZE);
                    assertThat(parts.append("t", partition, late, Workers.HANG_MS))
                            .isNull();
                }
                appended[writer] = mine.size();
                synchronized (futures) {
                    futures.addAll(mine);
                }
                writersLeft.decrementAndGet();
                parts.ready.wake();
            });
        }
        workers.add(1, () -> {
            while (written.get() < closeAfter) {
                Thread.onSpinWait();
            }
            parts.accumulator.close();
            closed.set(true);
        });
        workers.add(1, () -> io.runUntil(() -> writersLeft.get() == 0 || workers.hasFailed()));

        workers.start().join();

        for (int writer = 0; writer < WRITERS; writer++) {
            assertThat(io.taken(writer)).as("records that came out").isEqualTo(appended[writer]);
        }
        assertThat(futures).as("futures").allMatch(RecordFuture::isDone);
        assertThat(parts.pool.available()).as("memory given back").isEqualTo(parts.pool.total());
        assertThat(parts.pool.partitionsInUse()).as("partitions in use").isZero();
    }

    private static RecordFuture append(TestAccumulator parts, int writer, int n, Random random)
            throws InterruptedException {
        return parts.append("t", random.nextInt(PARTITIONS), record(writer, n, random), Workers.HANG_MS);
    }

    /** Some records are larger than a batch. */
    private static TestRecord record(int writer, int n, Random random) {
        int padding = random.nextInt(100) == 0 ? BATCH_SIZE : random.nextInt(60);
        return TestRecord.ofValue(writer + ":" + n + ":" + "x".repeat(padding));
    }

    /** Parses the value that {@link #record} made. */
    static int[] parse(byte[] value) {
        String[] parts = new String(value, StandardCharsets.UTF_8).split(":", -1);
        return new int[] {Integer.parseInt(parts[0]), Integer.parseInt(parts[1])};
    }
}
