package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The sizes of batches, and the memory that they take. */
class BatchSizingTest {
    private static final int BATCH_SIZE = 16_384;
    private static final long MEMORY = 32 << 20;

    @Test
    void shouldStartAtBatchSizeWhenMemoryIsPlentiful() throws InterruptedException {
        TestAccumulator parts = new TestAccumulator(MEMORY, BATCH_SIZE);

        FinishedBatch batch = sealed(parts, 0, 100);

        assertThat(batch.count()).isEqualTo(100);
    }

    @Test
    void shouldStartAtBatchSizeAgainAfterManySmallBatches() throws InterruptedException {
        TestAccumulator parts = new TestAccumulator(MEMORY, BATCH_SIZE);
        for (int i = 0; i < 20; i++) {
            sealed(parts, 0, 1).release();
        }

        assertThat(sealed(parts, 0, 100).count()).isEqualTo(100);
    }

    @Test
    void shouldStartAtBatchSizeWhenAnotherPartitionHasManyBatches() throws InterruptedException {
        TestAccumulator parts = new TestAccumulator(16 * BATCH_SIZE, BATCH_SIZE);
        for (int i = 0; i < 1_000; i++) {
            parts.append("t", 0, TestRecord.ofSize(100), 0);
        }
        assertThat(parts.pool.available())
                .as("what two partitions are to share")
                .isLessThan(10 * BATCH_SIZE);
        while (parts.ready.poll() != null) {}

        assertThat(sealed(parts, 1, 100).count()).isEqualTo(100);
    }

    @Test
    void shouldStartAtBatchSizeWhenManyPartitionsWereInUseBefore() throws InterruptedException {
        TestAccumulator parts = new TestAccumulator(MEMORY, BATCH_SIZE);
        for (int p = 0; p < 10_000; p++) {
            sealed(parts, p, 1).release();
        }

        assertThat(sealed(parts, 3, 100).count()).isEqualTo(100);
        assertThat(sealed(parts, 10_000, 100).count()).isEqualTo(100);
    }

    @Test
    void shouldLeaveARecordLargerThanBatchSizeAloneAndUseItsBufferAgain() throws InterruptedException {
        TestAccumulator parts = new TestAccumulator(MEMORY, BATCH_SIZE);
        byte[] kept = null;
        for (int size : new int[] {100_000, 100_050, 99_000}) {
            parts.append("t", 0, TestRecord.ofSize(size), 0);
            parts.append("t", 0, TestRecord.ofSize(10), 0);

            PartitionQueue queue = parts.ready.poll();
            FinishedBatch large = oldest(queue);
            assertThat(large.count()).isEqualTo(1);
            byte[] buffer = large.buffer();
            assertThat(buffer).isSameAs(kept == null ? buffer : kept);
            kept = buffer;
            release(List.of(large, oldest(queue)));
            while (parts.ready.poll() != null) {}
        }
        assertThat(parts.pool.available()).isEqualTo(MEMORY);
    }

    /** Also if each of them was in use before, while memory was plentiful. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldTakeLittleMemoryWhenTenThousandPartitionsHaveARecordEach(boolean usedBefore)
            throws InterruptedException {
        TestAccumulator parts = new TestAccumulator(64 << 20, BATCH_SIZE);
        for (int p = 0; usedBefore && p < 10_000; p++) {
            sealed(parts, p, 1).release();
        }

        for (int p = 0; p < 10_000; p++) {
            parts.append("t", p, TestRecord.ofSize(100), 0);
        }

        assertThat(parts.pool.partitionsInUse()).isEqualTo(10_000);
        assertThat(parts.pool.available()).isGreaterThan(parts.pool.total() / 2);
    }

    @Test
    void shouldStartSmallWhenThePartitionsInUseCouldNotAllHaveBatchSize() throws InterruptedException {
        TestAccumulator parts = new TestAccumulator(16 * BATCH_SIZE, BATCH_SIZE);
        for (int p = 0; p < 20; p++) {
            parts.append("t", p, TestRecord.ofSize(100), 0);
        }

        // the fourth can have one: four are no more than a third of the 13 that are free; five are more than one of 12
        assertThat(parts.pool.total() - parts.pool.available()).isEqualTo(4 * BATCH_SIZE + 16 * 1_024);
    }

    @Test
    void shouldReachBatchSizeAfterAFewFullBatchesWhenMemoryIsScarce() throws InterruptedException {
        List<FinishedBatch> batches = fill(scarce(MEMORY, BATCH_SIZE), 10);

        assertThat(batches.get(0).buffer()).hasSize(1_024);
        for (FinishedBatch batch : batches.subList(4, 10)) {
            assertThat(batch.buffer()).hasSize(BATCH_SIZE);
            assertThat(batch.size()).isBetween(BATCH_SIZE - 120, BATCH_SIZE);
        }
    }

    @Test
    void shouldReachABatchSizeThatIsNoPowerOfTwo() throws InterruptedException {
        List<FinishedBatch> batches = fill(scarce(MEMORY, 99_999), 10);

        assertThat(batches.get(9).buffer()).hasSize(99_999);
    }

    @Test
    void shouldBecomeSmallAgainWhenLittleIsSentAndMemoryIsScarce() throws InterruptedException {
        TestAccumulator parts = scarce(MEMORY, BATCH_SIZE);
        release(fill(parts, 10));
        for (int i = 0; i < 6; i++) {
            sealed(parts, 0, 1).release();
        }

        parts.append("t", 0, TestRecord.ofSize(100), 0);

        assertThat(parts.pool.total() - parts.pool.available()).isEqualTo(1_024);
    }

    @Test
    void shouldMakeRoomForAsMuchAsLastTimeWhenMemoryBecomesScarce() throws InterruptedException {
        TestAccumulator parts = new TestAccumulator(MEMORY, BATCH_SIZE);
        sealed(parts, 0, 50).release();
        beScarce(parts);

        assertThat(sealed(parts, 0, 50).count()).isEqualTo(50);
    }

    @Test
    void shouldFillBatchSizeWithCompressedRecords() throws InterruptedException {
        TestAccumulator parts = new TestAccumulator(MEMORY, BATCH_SIZE, new GzipCodec());

        List<FinishedBatch> batches = fill(parts, 60);

        for (FinishedBatch batch : batches.subList(40, 60)) {
            assertThat(batch.compressionRatio()).isLessThan(0.5);
            assertThat(batch.size()).isBetween(BATCH_SIZE * 3 / 4, BATCH_SIZE * 5 / 4);
            assertThat(batch.buffer()).as("what was written to is given back").hasSizeLessThan(BATCH_SIZE * 3 / 2);
        }
        release(batches);
        assertThat(parts.pool.available()).isEqualTo(parts.pool.total());
    }

    @Test
    void shouldStartAtWhatCompressionWillMakeBatchSizeOfWhenMemoryIsPlentiful() throws InterruptedException {
        TestAccumulator parts = new TestAccumulator(MEMORY, BATCH_SIZE, new GzipCodec());
        release(fill(parts, 60));
        for (int i = 0; i < 20; i++) {
            sealed(parts, 0, 1).release();
        }

        FinishedBatch batch = sealed(parts, 0, 200);

        assertThat(batch.count()).isEqualTo(200);
        assertThat(batch.size()).isLessThan(BATCH_SIZE);
    }

    @Test
    void shouldStartAtBatchSizeWhenMemoryIsPlentifulForThatOnly() throws InterruptedException {
        TestAccumulator parts = new TestAccumulator(8 * BATCH_SIZE, BATCH_SIZE, new GzipCodec());
        for (int i = 0; i < 60; i++) {
            release(fill(parts, 1));
        }
        for (int i = 0; i < 20; i++) {
            sealed(parts, 0, 1).release();
        }

        parts.append("t", 0, TestRecord.ofSize(100), 0);

        assertThat(parts.pool.total() - parts.pool.available()).isEqualTo(BATCH_SIZE);
    }

    @Test
    void shouldNotSpendTheLastMemoryOnWhatCompressionMightSave() throws InterruptedException {
        TestAccumulator parts = new TestAccumulator(8 * BATCH_SIZE, BATCH_SIZE, new GzipCodec());

        for (int i = 0; i < 60; i++) {
            List<FinishedBatch> batch = fill(parts, 1);
            assertThat(batch.get(0).size()).isLessThanOrEqualTo(BATCH_SIZE);
            release(batch);
        }
    }

    @Test
    void shouldGiveBackWhatASmallBatchDidNotNeedWhenMemoryIsScarce() throws InterruptedException {
        TestAccumulator parts = new TestAccumulator(MEMORY, BATCH_SIZE);
        parts.append("t", 0, TestRecord.ofValue("alone"), 0);
        beScarce(parts);

        FinishedBatch batch = taken(parts);

        assertThat(batch.buffer()).hasSize(1_024);
        assertThat(parts.pool.total() - parts.pool.available()).isEqualTo(1_024);
        assertThat(ReadBack.values(batch)).containsExactly("alone");
    }

    /** Everyday rates: every batch is small, and none costs a copy or a new buffer. */
    @Test
    void shouldUseTheSameBufferAgainAndAgainWhenBatchesAreSmallAndMemoryIsPlentiful() throws InterruptedException {
        TestAccumulator parts = new TestAccumulator(MEMORY, BATCH_SIZE);
        FinishedBatch first = sealed(parts, 0, 1);
        byte[] buffer = first.buffer();
        first.release();

        for (int i = 1; i < 100; i++) {
            FinishedBatch batch = sealed(parts, i % 3, 1);
            assertThat(batch.buffer()).isSameAs(buffer).hasSize(BATCH_SIZE);
            batch.release();
        }
    }

    /** A million other partitions are in use. */
    private static TestAccumulator scarce(long memory, int batchSize) {
        TestAccumulator parts = new TestAccumulator(memory, batchSize);
        beScarce(parts);
        return parts;
    }

    private static void beScarce(TestAccumulator parts) {
        parts.pool.addPartitionsInUse(1_000_000);
    }

    /**
     * Finishes this many full batches of partition 0, whose records are half random bytes; the open batch after them is
     * sealed and released.
     */
    private static List<FinishedBatch> fill(TestAccumulator parts, int count) throws InterruptedException {
        Random random = new Random(5);
        List<FinishedBatch> batches = new ArrayList<>();
        while (batches.size() < count) {
            byte[] value = new byte[100];
            for (int i = 0; i < 25; i++) {
                value[i] = (byte) random.nextInt();
            }
            TestRecord record = new TestRecord(1_000, null, value, TestRecord.NO_HEADERS);
            parts.append("t", 0, record, 0);
            for (PartitionQueue queue = parts.ready.poll(); queue != null; queue = parts.ready.poll()) {
                for (FinishedBatch batch = queue.peek(); batch != null; batch = queue.peek()) {
                    queue.take();
                    batches.add(batch);
                }
                if (batches.size() == count && queue.hasRecords()) {
                    queue.sealOldest(SealCause.LINGER);
                    release(List.of(queue.peek()));
                    queue.take();
                }
            }
        }
        while (parts.ready.poll() != null) {}
        return batches;
    }

    /** A first batch of this many records, even if it is not full. */
    private static FinishedBatch sealed(TestAccumulator parts, int partition, int records) throws InterruptedException {
        for (int i = 0; i < records; i++) {
            parts.append("t", partition, TestRecord.ofSize(100), 0);
        }
        return taken(parts);
    }

    /** The first batch of the partition with records. */
    private static FinishedBatch taken(TestAccumulator parts) {
        FinishedBatch batch = oldest(parts.ready.poll());
        while (parts.ready.poll() != null) {}
        return batch;
    }

    private static FinishedBatch oldest(PartitionQueue queue) {
        queue.sealOldest(SealCause.LINGER);
        FinishedBatch batch = queue.peek();
        queue.take();
        batch.stamp(-1, (short) -1, -1);
        return batch;
    }

    private static void release(List<FinishedBatch> batches) {
        batches.forEach(FinishedBatch::release);
    }
}
