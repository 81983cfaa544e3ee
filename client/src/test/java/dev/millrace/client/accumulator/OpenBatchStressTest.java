package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.accumulator.TwinBatch.Weakness;
import dev.millrace.client.raw.BatchLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.apache.kafka.clients.producer.Callback;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Writers race from batch to batch while another thread seals some of them early, as the I/O thread does on linger.
 * What Kafka's classes then read must be what was taken, record by record. The same run must object to every twin of
 * {@link TwinBatch}, each of them weakened in one place.
 */
class OpenBatchStressTest {
    private static final int WRITERS = 3;
    private static final int ROUNDS = 25;
    private static final int BATCHES = 250;

    /** Rounds in which a twin must show its weakness; usually one or two are enough. */
    private static final int TWIN_ROUNDS = 2_000;

    /** A batch as its writers see it. */
    interface Subject {
        /** Null if sealed or full, else an argument for {@link #indexOf}. */
        Object append(EncodableRecord record, Callback callback);

        void seal();

        /** How often it was finished. */
        int finishes();

        /** Delivers it; returns what Kafka reads. */
        List<String> deliver();

        long indexOf(Object appended);
    }

    @Test
    void shouldHoldEveryRecordOnceAtItsIndexWhenManyWrite() throws InterruptedException {
        stress("OpenBatchStressTest", ROUNDS, Real::new);
    }

    @ParameterizedTest
    @EnumSource
    void shouldObjectWhenTheBatchIsWeakened(Weakness weakness) {
        assertThatThrownBy(() ->
                        stress("OpenBatchStressTest/" + weakness, TWIN_ROUNDS, size -> new TwinBatch(size, weakness)))
                .isInstanceOf(AssertionError.class);
    }

    @Test
    void shouldAcceptTheTwinWhenNothingIsWeakened() throws InterruptedException {
        stress("OpenBatchStressTest/sound twin", 5, size -> new TwinBatch(size, null));
    }

    private static void stress(String name, int rounds, IntFunction<Subject> subjects) throws InterruptedException {
        Random random = Seed.random(name);
        for (int round = 0; round < rounds; round++) {
            new Round(random, subjects).run();
        }
    }

    private record Appended(String value, Object handle, boolean withCallback) {}

    private record Called(String value, long offset) {}

    private static final class Round {
        private final List<Subject> batches = new ArrayList<>();
        private final List<List<Called>> called = new ArrayList<>();
        private final List<List<Appended>> appended = new ArrayList<>();
        private final AtomicInteger frontier = new AtomicInteger(-1);
        private final AtomicInteger writersLeft = new AtomicInteger(WRITERS);
        private final Random seeds;

        Round(Random random, IntFunction<Subject> subjects) {
            seeds = new Random(random.nextLong());
            for (int i = 0; i < BATCHES; i++) {
                batches.add(subjects.apply(BatchLayout.HEADER_SIZE + 50 + random.nextInt(800)));
                called.add(new ArrayList<>());
                appended.add(Collections.synchronizedList(new ArrayList<>()));
            }
        }

        void run() throws InterruptedException {
            Workers workers = new Workers();
            for (int w = 0; w < WRITERS; w++) {
                int writer = w;
                Random random = new Random(seeds.nextLong());
                workers.add(1, () -> {
                    try {
                        write(writer, random);
                    } finally {
                        writersLeft.decrementAndGet();
                    }
                });
            }
            Random random = new Random(seeds.nextLong());
            workers.add(1, () -> sealSome(random)).start().join();
            for (int i = 0; i < BATCHES; i++) {
                check(i);
            }
        }

        private void write(int writer, Random random) {
            int n = 0;
            for (int i = 0; i < BATCHES; i++) {
                List<Appended> mine = new ArrayList<>();
                while (true) {
                    String value = i + ":" + writer + ":" + n++ + ":" + "x".repeat(random.nextInt(30));
                    List<Called> calls = called.get(i);
                    Callback callback =
                            n % 2 == 0 ? null : (metadata, error) -> calls.add(new Called(value, metadata.offset()));
                    Object handle = batches.get(i).append(record(value), callback);
                    if (handle == null) {
                        break;
                    }
                    mine.add(new Appended(value, handle, callback != null));
                    if (frontier.get() < i) {
                        frontier.accumulateAndGet(i, Math::max);
                    }
                }
                appended.get(i).addAll(mine);
            }
        }

        private static EncodableRecord record(String value) {
            byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
            return new EncodableRecord(1_000, null, bytes, RecordEncoder.NO_HEADERS);
        }

        /** Seals about half of the batches soon after their first record. */
        private void sealSome(Random random) {
            for (int i = 0; i < BATCHES; i++) {
                if (random.nextBoolean()) {
                    while (frontier.get() < i && writersLeft.get() > 0) {
                        Thread.onSpinWait();
                    }
                    for (int spin = random.nextInt(100); spin > 0; spin--) {
                        Thread.onSpinWait();
                    }
                    batches.get(i).seal();
                }
            }
        }

        private void check(int i) {
            List<Appended> taken = appended.get(i);
            assertThat(batches.get(i).finishes()).as("finishes of batch %d", i).isEqualTo(1);
            List<String> read = readBack(i);
            assertThat(read).as("records of batch %d", i).hasSameSizeAs(taken);
            Map<Long, String> callbacks = new HashMap<>();
            for (Appended record : taken) {
                long index = batches.get(i).indexOf(record.handle());
                assertThat(read.get((int) index))
                        .as("record %d of batch %d", index, i)
                        .isEqualTo(record.value());
                if (record.withCallback()) {
                    callbacks.put(index, record.value());
                }
            }
            assertThat(called.get(i)).extracting(Called::offset).isSorted().hasSameSizeAs(callbacks.keySet());
            called.get(i).forEach(call -> assertThat(callbacks).containsEntry(call.offset(), call.value()));
        }

        private List<String> readBack(int i) {
            try {
                return batches.get(i).deliver();
            } catch (RuntimeException e) {
                throw new AssertionError("Kafka cannot read batch " + i, e);
            }
        }
    }

    private static final class Real implements Subject {
        private final TestAccumulator parts = new TestAccumulator(1_000, 1_000);
        private final OpenBatch batch;

        Real(int size) {
            batch = parts.openBatch(size, 1_000);
        }

        @Override
        @SuppressWarnings("FutureReturnValueIgnored") // it comes back through indexOf
        public Object append(EncodableRecord record, Callback callback) {
            return batch.tryAppend(record, callback);
        }

        @Override
        public void seal() {
            batch.seal();
        }

        /** Each finish hands the partition over once. */
        @Override
        public int finishes() {
            int finishes = 0;
            while (parts.ready.poll() != null) {
                finishes++;
            }
            return finishes;
        }

        @Override
        public List<String> deliver() {
            FinishedBatch finished = batch.finished();
            finished.stamp(1, (short) 0, 0);
            finished.decide(0, -1, null);
            finished.deliver();
            return ReadBack.values(finished);
        }

        @Override
        public long indexOf(Object appended) {
            try {
                return ((RecordFuture) appended).get().offset();
            } catch (InterruptedException | ExecutionException e) {
                throw new AssertionError(e);
            }
        }
    }
}
