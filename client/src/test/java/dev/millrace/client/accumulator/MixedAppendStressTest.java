package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.accumulator.IoModel.Fault;
import dev.millrace.client.support.SourceBatch;
import dev.millrace.kafka.common.record.internal.CompressionType;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Threads send records, append encoded ones and pass whole batches to a few partitions, all at once and through little
 * memory, while {@link IoModel} drains them. Each thread's records must come out once and in its order, and all memory
 * must come back. Every fault that the model can be given must be noticed.
 */
class MixedAppendStressTest {
    private static final List<BatchCodec> CODECS = SourceBatch.codecs();
    private static final int WRITERS = 4;
    private static final int PARTITIONS = 2;
    private static final int BATCH_SIZE = 400;
    private static final long MEMORY = 8 * BATCH_SIZE;

    @Test
    void shouldKeepEachThreadsOrderWhenBatchesArePassedBetweenRecords() throws InterruptedException {
        run("MixedAppendStressTest", 5_000, null);
    }

    @ParameterizedTest
    @EnumSource
    void shouldObjectWhenTheIoThreadMakesAMistake(Fault fault) {
        assertThatThrownBy(() -> run("MixedAppendStressTest/" + fault, 500, fault))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(fault.noticedBy);
    }

    @Test
    void shouldTakeAllThatGotAResultWhenClosedInBetween() throws InterruptedException {
        Random random = Seed.random("MixedAppendStressTest/close");
        for (int round = 0; round < 60; round++) {
            closeInBetween(new Random(random.nextLong()));
        }
    }

    private static void run(String name, int callsPerWriter, Fault fault) throws InterruptedException {
        Random seeds = Seed.random(name);
        TestAccumulator parts = new TestAccumulator(MEMORY, BATCH_SIZE);
        IoModel io = new IoModel(parts, new Random(seeds.nextLong()), fault);
        AtomicInteger writersLeft = new AtomicInteger(WRITERS);
        List<Writer> writers = new ArrayList<>();
        Workers workers = new Workers();
        for (int w = 0; w < WRITERS; w++) {
            Writer writer = new Writer(parts, w, new Random(seeds.nextLong()));
            writers.add(writer);
            workers.add(1, () -> {
                for (int n = 0; n < callsPerWriter && !workers.hasFailed(); n++) {
                    assertThat(writer.write()).isTrue();
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

        assertAllOut(parts, io, writers);
    }

    private static void closeInBetween(Random seeds) throws InterruptedException {
        TestAccumulator parts = new TestAccumulator(MEMORY, BATCH_SIZE);
        IoModel io = new IoModel(parts, new Random(seeds.nextLong()), null);
        AtomicInteger writersLeft = new AtomicInteger(WRITERS);
        AtomicInteger written = new AtomicInteger();
        AtomicBoolean closed = new AtomicBoolean();
        int closeAfter = seeds.nextInt(60);
        List<Writer> writers = new ArrayList<>();
        Workers workers = new Workers();
        for (int w = 0; w < WRITERS; w++) {
            Writer writer = new Writer(parts, w, new Random(seeds.nextLong()));
            writers.add(writer);
            workers.add(1, () -> {
                while (writer.write()) {
                    written.incrementAndGet();
                }
                Workers.until("close() has returned", () -> closed.get() || workers.hasFailed());
                assertThat(writer.write()).as("taken after close").isFalse();
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

        assertAllOut(parts, io, writers);
    }

    private static void assertAllOut(TestAccumulator parts, IoModel io, List<Writer> writers) {
        for (Writer writer : writers) {
            assertThat(io.taken(writer.id)).as("records that came out").isEqualTo(writer.records);
            assertThat(writer.futures).as("futures").allMatch(RecordFuture::isDone);
            assertThat(writer.results).as("futures").allMatch(BatchResult::isDone);
        }
        assertThat(parts.pool.available()).as("memory given back").isEqualTo(parts.pool.total());
        assertThat(parts.pool.partitionsInUse()).as("partitions in use").isZero();
    }

    /** One thread's calls, of all three kinds. */
    private static final class Writer {
        private final TestAccumulator parts;
        private final int id;
        private final Random random;
        private final List<RecordFuture> futures = new ArrayList<>();
        private final List<BatchResult> results = new ArrayList<>();
        private int records;

        Writer(TestAccumulator parts, int id, Random random) {
            this.parts = parts;
            this.id = id;
            this.random = random;
        }

        /** False if it is refused because the accumulator is closed. */
        boolean write() throws InterruptedException {
            PartitionQueue queue = parts.accumulator.queue("t", 0, random.nextInt(PARTITIONS));
            if (queue == null) {
                return false;
            }
            int kind = random.nextInt(8);
            int count = kind == 0 ? 1 + random.nextInt(12) : 1;
            List<TestRecord> next = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                next.add(TestRecord.ofValue(id + ":" + (records + i) + ":" + "x".repeat(random.nextInt(40))));
            }
            boolean taken;
            if (kind == 0) {
                CompressionType codec = random.nextBoolean() ? CompressionType.NONE : CompressionType.LZ4;
                ByteBuffer batch = PassedBatchTest.source(codec, next);
                taken = note(results, queue.pass(batch, CODECS, Workers.HANG_MS));
            } else if (kind < 4) {
                byte[] content = PassedBatchTest.content(next.get(0));
                taken = note(
                        results, queue.append(next.get(0).timestamp(), content, 0, content.length, Workers.HANG_MS));
            } else {
                taken = note(futures, queue.append(next.get(0).encodable(), null, Workers.HANG_MS));
            }
            records += taken ? count : 0;
            return taken;
        }

        private static <T> boolean note(List<T> all, T resultOrNull) {
            return resultOrNull != null && all.add(resultOrNull);
        }
    }
}
