package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.kafka.common.record.internal.Record;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How a batch is split that the broker finds too large. */
class BatchSplitterTest {
    private static final int BATCH_SIZE = 4_000;

    private final List<RecordFuture> futures = new ArrayList<>();
    private final List<Integer> calledBack = new ArrayList<>();

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldKeepEveryPartOfEveryRecordInOrder(boolean compressed) {
        Random random = Seed.random("BatchSplitterTest");
        for (int i = 0; i < 100; i++) {
            TestAccumulator parts = accumulator(compressed);
            List<TestRecord> written = randomRecords(random, 2 + random.nextInt(60));
            FinishedBatch whole = finished(parts, written);

            List<FinishedBatch> split = split(whole);

            assertThat(split).hasSizeGreaterThan(1);
            List<Record> read = new ArrayList<>();
            for (FinishedBatch part : split) {
                part.stamp(7, (short) 3, read.size());
                List<Record> records = ReadBack.records(part);
                assertThat(records).hasSize(part.count());
                assertThat(ReadBack.batch(part).maxTimestamp())
                        .isEqualTo(records.stream()
                                .mapToLong(Record::timestamp)
                                .max()
                                .orElseThrow());
                assertThat(part.buffer()).as("no byte too many").hasSize(part.size());
                read.addAll(records);
            }
            assertThat(read).hasSameSizeAs(written);
            for (int r = 0; r < read.size(); r++) {
                written.get(r).assertReadBackAs(read.get(r));
            }
        }
    }

    @Test
    void shouldEndWithSingleRecordsWhenSplitAgainAndAgain() {
        TestAccumulator parts = accumulator(false);
        List<FinishedBatch> left = new ArrayList<>(List.of(finished(parts, randomRecords(new Random(1), 50))));
        List<FinishedBatch> singles = new ArrayList<>();

        for (int splits = 0; !left.isEmpty(); ) {
            FinishedBatch first = left.remove(0);
            if (first.count() == 1) {
                singles.add(first);
            } else {
                assertThat(++splits).as("every split makes progress").isLessThan(50);
                left.addAll(0, split(first));
            }
        }

        assertThat(singles).hasSize(50);
        assertThatThrownBy(() -> split(singles.get(0))).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldMakePartsOfAboutBatchSizeWhenMuchLarger() {
        TestAccumulator parts = new TestAccumulator(1 << 20, 1_000);
        OpenBatch open = parts.openBatch(10_000, 1_000);
        while (open.tryAppend(TestRecord.ofSize(90).encodable(), null) != null) {}

        List<FinishedBatch> split = split(open.finished());

        assertThat(split).hasSizeBetween(9, 13).allMatch(part -> part.size() <= 1_061 + 100);
    }

    @Test
    void shouldCutOffTheLargeRecordWhereverItStands() {
        for (int large = 0; large < 4; large++) {
            List<TestRecord> records = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                records.add(TestRecord.ofSize(i == large ? 2_000 : 10));
            }

            List<FinishedBatch> split = split(finished(accumulator(false), records));

            assertThat(split).hasSizeBetween(2, 3);
            assertThat(split)
                    .filteredOn(part -> part.size() > 2_000)
                    .singleElement()
                    .satisfies(part -> assertThat(part.count()).isEqualTo(1));
        }
    }

    @Test
    void shouldTellEachRecordWhatBecameOfItsPart() throws Exception {
        // given a batch that is split, and its second half again
        TestAccumulator parts = accumulator(false);
        FinishedBatch whole = finished(parts, sameSize(8));
        List<FinishedBatch> halves = split(whole);
        List<FinishedBatch> quarters = split(halves.get(1));
        assertThat(futures).noneMatch(RecordFuture::isDone);

        // when
        complete(halves.get(0), 100, null);

        // then the first half is done, and the rest waits
        assertThat(futures.subList(0, 4)).allMatch(RecordFuture::isDone);
        assertThat(futures.subList(4, 8)).noneMatch(RecordFuture::isDone);
        assertThatThrownBy(() -> futures.get(4).get(1, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);

        complete(quarters.get(0), -1, new KafkaException("refused"));
        complete(quarters.get(1), 200, null);
        for (int i = 0; i < 4; i++) {
            assertThat(futures.get(i).get().offset()).isEqualTo(100 + i);
        }
        for (RecordFuture failed : futures.subList(4, 6)) {
            assertThatThrownBy(failed::get)
                    .isInstanceOf(ExecutionException.class)
                    .hasRootCauseMessage("refused");
        }
        assertThat(futures.get(6).get().offset()).isEqualTo(200);
        assertThat(futures.get(7).get(0, TimeUnit.SECONDS).offset()).isEqualTo(201);
        assertThat(calledBack).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
        assertThat(parts.pool.available()).isEqualTo(parts.pool.total());
    }

    @Test
    void shouldGiveMemoryBackWithThePartsAndNotTwice() {
        TestAccumulator parts = accumulator(false);
        FinishedBatch whole = finished(parts, sameSize(8));
        long inUse = parts.pool.total() - parts.pool.available();
        List<FinishedBatch> halves = split(whole);

        whole.release();
        assertThat(parts.pool.total() - parts.pool.available()).isEqualTo(inUse);

        halves.get(0).release();
        halves.get(0).release();
        assertThat(parts.pool.total() - parts.pool.available()).isBetween(1L, inUse - 1);

        halves.get(1).release();
        assertThat(parts.pool.available()).isEqualTo(parts.pool.total());
    }

    @Test
    void shouldWaitForThePartsWhenFlushedBeforeTheSplit() throws Exception {
        flushAround(true);
    }

    @Test
    void shouldWaitForThePartsWhenFlushedAfterTheSplit() throws Exception {
        flushAround(false);
    }

    /** KAFKA-9312, KAFKA-19479. */
    private void flushAround(boolean flushFirst) throws Exception {
        TestAccumulator parts = accumulator(false);
        for (TestRecord record : sameSize(8)) {
            futures.add(parts.append("t", 0, record, 0));
        }
        PartitionQueue queue = parts.ready.poll();
        queue.sealOldest(SealCause.FLUSH);
        FinishedBatch whole = queue.peek();
        queue.take();
        List<FinishedBatch> halves = flushFirst ? null : split(whole);
        AtomicBoolean flushed = new AtomicBoolean();
        Workers flusher = new Workers()
                .add(1, () -> {
                    parts.accumulator.flush();
                    flushed.set(true);
                })
                .start();
        Workers.until("flush() waits", () -> flusher.thread(0).getState() == Thread.State.WAITING);
        halves = flushFirst ? split(whole) : halves;

        complete(halves.get(0), 0, null);
        futures.get(3).get();
        assertThat(flushed).as("the second half is not done").isFalse();
        complete(halves.get(1), 4, null);

        flusher.join();
        assertThat(flushed).isTrue();
    }

    @Test
    void shouldStayWholeWhenItsPartsCannotTakeItsPlace() {
        // given
        TestAccumulator parts = accumulator(false);
        FinishedBatch whole = finished(parts, sameSize(4));

        // when
        assertThatThrownBy(() -> whole.splitIntoParts(ignored -> {
                    throw new InternalError("thrown on purpose");
                }))
                .isInstanceOf(InternalError.class);

        // then it can still be told, and its memory comes back
        complete(whole, 7, null);
        assertThat(calledBack).containsExactly(0, 1, 2, 3);
        assertThat(futures).allMatch(RecordFuture::isDone);
        assertThat(parts.pool.available()).isEqualTo(parts.pool.total());
    }

    private static List<FinishedBatch> split(FinishedBatch whole) {
        List<FinishedBatch> parts = new ArrayList<>();
        whole.splitIntoParts(parts::addAll);
        return parts;
    }

    private static void complete(FinishedBatch batch, long offset, KafkaException error) {
        batch.decide(offset, -1, error);
        batch.release();
        batch.deliver();
    }

    private static TestAccumulator accumulator(boolean compressed) {
        return new TestAccumulator(1 << 20, BATCH_SIZE, compressed ? new GzipCodec() : BatchCodec.NONE);
    }

    private static List<TestRecord> sameSize(int count) {
        List<TestRecord> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            records.add(TestRecord.ofSize(100));
        }
        return records;
    }

    private static List<TestRecord> randomRecords(Random random, int count) {
        List<TestRecord> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            records.add(TestRecord.random(random, 100));
        }
        return records;
    }

    /** A batch with all of them, in memory of the pool. */
    private FinishedBatch finished(TestAccumulator parts, List<TestRecord> records) {
        try {
            byte[] buffer = parts.pool.acquire(64 << 10, 0, () -> true);
            OpenBatch open = new OpenBatch(
                    parts.queue(0),
                    null,
                    buffer,
                    buffer.length,
                    parts.clockMs.get(),
                    parts.accumulator.lingerUntilMs(),
                    records.get(0).timestamp());
            for (TestRecord record : records) {
                int number = futures.size();
                RecordFuture future = open.tryAppend(record.encodable(), (metadata, error) -> calledBack.add(number));
                assertThat(future).isNotNull();
                futures.add(future);
            }
            open.seal();
            open.finished().stamp(-1, (short) -1, -1);
            return open.finished();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
