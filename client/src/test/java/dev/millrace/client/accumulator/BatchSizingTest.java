package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** How large batches are made, and what memory they take. */
class BatchSizingTest {
    private static final int BATCH_SIZE = 16_384;
    private static final long MEMORY = 32 << 20;

    @Test
    void shouldTakeLittleMemoryForTheFirstRecordOfAPartition() throws InterruptedException {
        TestAccumulator parts = new TestAccumulator(64 << 20, BATCH_SIZE);
        for (int p = 0; p < 10_000; p++) {
            parts.append("t", p, TestRecord.ofSize(100), 0);
        }

        assertThat(parts.pool.total() - parts.pool.available()).isEqualTo(10_000 * 1_024);
    }

    @Test
    void shouldReachBatchSizeAfterAFewFullBatches() throws InterruptedException {
        List<FinishedBatch> batches = fill(new TestAccumulator(MEMORY, BATCH_SIZE), 10);

        assertThat(batches.get(0).buffer()).hasSize(1_024);
        for (FinishedBatch batch : batches.subList(4, 10)) {
            assertThat(batch.buffer()).hasSize(BATCH_SIZE);
            assertThat(batch.size()).isBetween(BATCH_SIZE - 120, BATCH_SIZE);
        }
    }

    @Test
    void shouldReachABatchSizeThatIsNoPowerOfTwo() throws InterruptedException {
        List<FinishedBatch> batches = fill(new TestAccumulator(MEMORY, 99_999), 10);

        assertThat(batches.get(9).buffer()).hasSize(99_999);
    }

    @Test
    void shouldBecomeSmallAgainWhenLittleIsSent() throws InterruptedException {
        TestAccumulator parts = new TestAccumulator(MEMORY, BATCH_SIZE);
        release(fill(parts, 10));
        for (int i = 0; i < 6; i++) {
            parts.append("t", 0, TestRecord.ofSize(100), 0);
            release(List.of(sealed(parts)));
        }

        parts.append("t", 0, TestRecord.ofSize(100), 0);

        assertThat(parts.pool.total() - parts.pool.available()).isEqualTo(1_024);
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
    void shouldNotSpendTheLastMemoryOnWhatCompressionMightSave() throws InterruptedException {
        TestAccumulator parts = new TestAccumulator(8 * BATCH_SIZE, BATCH_SIZE, new GzipCodec());

        for (int i = 0; i < 60; i++) {
            List<FinishedBatch> batch = fill(parts, 1);
            assertThat(batch.get(0).size()).isLessThanOrEqualTo(BATCH_SIZE);
            release(batch);
        }
    }

    @Test
    void shouldGiveBackWhatALingeringBatchDidNotNeed() throws InterruptedException {
        TestAccumulator parts = new TestAccumulator(MEMORY, BATCH_SIZE);
        release(fill(parts, 10));
        parts.append("t", 0, TestRecord.ofValue("alone"), 0);

        FinishedBatch batch = sealed(parts);

        assertThat(batch.buffer()).hasSize(1_024);
        assertThat(parts.pool.total() - parts.pool.available()).isEqualTo(1_024);
        assertThat(ReadBack.values(batch)).containsExactly("alone");
    }

    /** So many full batches of partition 0, its records half of random bytes; the open one behind them is sealed and released. */
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

    /** What was appended to partition 0. */
    private static FinishedBatch sealed(TestAccumulator parts) {
        PartitionQueue queue = parts.ready.poll();
        queue.sealOldest(SealCause.LINGER);
        FinishedBatch batch = queue.peek();
        queue.take();
        while (parts.ready.poll() != null) {}
        batch.stamp(-1, (short) -1, -1);
        return batch;
    }

    private static void release(List<FinishedBatch> batches) {
        batches.forEach(FinishedBatch::release);
    }
}
