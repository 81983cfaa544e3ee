package dev.millrace.mirror.pass;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.raw.RawResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.junit.jupiter.api.Test;

class AckedBatchesTest {
    private static final AckListener IGNORED = (records, bytes, timestamp, ackedAtMs) -> {};

    private final AckedBatches batches = new AckedBatches(-1);

    /** A batch at the target whose outcome the test decides. */
    private static final class TargetBatch implements RawResult {
        private boolean done;
        private RuntimeException failure;
        private long doneAtMs;
        private int asked;
        private long base;
        private int splitAt = Integer.MAX_VALUE;

        void acknowledge() {
            done = true;
        }

        void fail(RuntimeException cause) {
            failure = cause;
            done = true;
        }

        @Override
        public boolean isDone() {
            asked++;
            return done;
        }

        @Override
        public RuntimeException failureOrNull() {
            assertThat(done).as("is asked for its failure after it is done").isTrue();
            return failure;
        }

        @Override
        public long doneAtMs() {
            return doneAtMs;
        }

        @Override
        public int acknowledgedBeforeFailure() {
            return 2;
        }

        @Override
        public long offsetOf(int record) {
            return record < splitAt ? base + record : base + record + 100;
        }
    }

    @Test
    void shouldKnowWhereTheCopyEndsAtTheTarget() {
        AckedBatches at = new AckedBatches(40);
        TargetBatch first = new TargetBatch();
        TargetBatch second = new TargetBatch();
        first.base = 70;
        second.base = -1_000;
        at.add(first, 3, -1, 3, 30, -1);
        assertThat(at.targetEnd()).isEqualTo(40);

        first.done = true;
        at.advance(IGNORED);
        assertThat(at.targetEnd()).isEqualTo(73);

        at.add(first, 5, -1, 2, 20, -1); // the rest of the same batch
        at.skipTo(9, -1);
        at.advance(IGNORED);
        assertThat(at.targetEnd()).isEqualTo(75);

        at.add(second, 10, -1, 1, 10, -1);
        second.done = true;
        at.advance(IGNORED);
        assertThat(at.targetEnd()).as("not told by the broker").isEqualTo(-1);
    }

    @Test
    void shouldHaveNoPositionWhenNothingIsAcknowledged() {
        batches.add(new TargetBatch(), 10, 3, 10, 0, -1);

        assertThat(batches.advance(IGNORED)).isZero();
        assertThat(batches.positionOrNull()).isNull();
        assertThat(batches.outstanding()).isEqualTo(10);
        assertThat(batches.isAwaited()).isTrue();
    }

    @Test
    void shouldTellWhereTheRecordsAreOfEachStretchWithoutAGap() {
        List<String> told = new ArrayList<>();
        batches.tell((source, target, count) -> told.add(source + "=" + target + "*" + count));
        TargetBatch merged = new TargetBatch();
        merged.base = 100;
        batches.add(merged, 10, 3, 10, 0, -1);
        batches.add(merged, 15, 3, 5, 0, -1);
        batches.skipTo(16, 3); // a marker
        batches.add(merged, 20, 3, 4, 0, -1);
        batches.add(merged, 30, 3, 1, 0, -1); // compaction has left one
        TargetBatch split = new TargetBatch();
        split.base = 500;
        split.splitAt = 1;
        batches.add(split, 33, 3, 3, 0, -1);

        merged.acknowledge();
        split.acknowledge();
        batches.advance(IGNORED);

        assertThat(told).containsExactly("0=100*15", "16=115*4", "29=119*1", "30=500*1", "31=601*1", "32=602*1");
    }

    @Test
    void shouldCountOnInABatchThatIsAcknowledgedBeforeItsLastRecordsAreAdded() {
        List<String> told = new ArrayList<>();
        batches.tell((source, target, count) -> told.add(source + "=" + target + "*" + count));
        TargetBatch merged = new TargetBatch();
        merged.base = 100;
        batches.add(merged, 10, 3, 10, 0, -1);
        merged.acknowledge();
        batches.advance(IGNORED);

        batches.add(merged, 15, 3, 5, 0, -1);
        assertThat(batches.advance(IGNORED)).isEqualTo(5);
        batches.add(merged, 17, 3, 2, 0, -1);
        assertThat(batches.advance(IGNORED)).isEqualTo(2);

        assertThat(told).containsExactly("0=100*10", "10=110*5", "15=115*2");
        assertThat(batches.positionOrNull()).isEqualTo(position(17, 3));
    }

    @Test
    void shouldMoveThePositionBackWithTheLogOnceAllBeforeIsAcknowledged() {
        TargetBatch batch = new TargetBatch();
        batches.add(batch, 10, 3, 10, 0, -1);
        batches.resetTo(6);
        assertThat(batches.positionOrNull()).isNull();

        batch.acknowledge();

        assertThat(batches.advance(IGNORED)).isEqualTo(10);
        assertThat(batches.positionOrNull()).isEqualTo(position(6, 3));
    }

    @Test
    void shouldMoveAPositionBackAtOnceWhenNothingIsOutstanding() {
        batches.skipTo(10, 3);

        batches.resetTo(6);
        assertThat(batches.positionOrNull()).isEqualTo(position(6, 3));
        batches.resetTo(0);

        assertThat(batches.positionOrNull()).isEqualTo(new OffsetAndMetadata(0));
    }

    @Test
    void shouldWaitForTheFirstBatchWhenLaterOnesAreAcknowledged() {
        TargetBatch first = new TargetBatch();
        TargetBatch second = new TargetBatch();
        batches.add(first, 10, 3, 10, 0, -1);
        batches.add(second, 25, 4, 15, 0, -1);
        second.acknowledge();
        assertThat(batches.advance(IGNORED)).isZero();
        assertThat(batches.positionOrNull()).isNull();

        first.acknowledge();

        assertThat(batches.advance(IGNORED)).isEqualTo(25);
        assertThat(batches.positionOrNull()).isEqualTo(position(25, 4));
        assertThat(batches.outstanding()).isZero();
        assertThat(batches.isAwaited()).isFalse();
    }

    @Test
    void shouldMoveByBatchesOfTheTargetWhenTheyBeginInsideBatchesOfTheSource() {
        TargetBatch first = new TargetBatch();
        TargetBatch second = new TargetBatch();
        batches.add(first, 11, 3, 1, 0, -1);
        batches.add(first, 12, 3, 1, 0, -1);
        batches.add(second, 13, 3, 1, 0, -1);
        batches.skipTo(20, 3);
        batches.add(second, 21, 4, 1, 0, -1);
        first.acknowledge();
        assertThat(batches.advance(IGNORED)).isEqualTo(2);
        assertThat(batches.positionOrNull()).isEqualTo(position(12, 3));
        second.acknowledge();

        assertThat(batches.advance(IGNORED)).isEqualTo(2);
        assertThat(batches.positionOrNull()).isEqualTo(position(21, 4));
    }

    @Test
    void shouldMoveOverWhatIsNotSentOnlyWhenAllBeforeItIsAcknowledged() {
        batches.skipTo(5, -1);
        assertThat(batches.positionOrNull()).isEqualTo(new OffsetAndMetadata(5, Optional.empty(), ""));
        TargetBatch batch = new TargetBatch();
        batches.add(batch, 10, 3, 5, 0, -1);
        batches.skipTo(10, 3);
        batches.skipTo(12, 4);
        batches.advance(IGNORED);
        assertThat(batches.positionOrNull().offset()).isEqualTo(5);

        batch.acknowledge();
        batches.advance(IGNORED);

        assertThat(batches.positionOrNull()).isEqualTo(position(12, 4));
        batches.skipTo(15, 4);
        assertThat(batches.positionOrNull()).isEqualTo(position(15, 4));
    }

    @Test
    void shouldStopForGoodAtABatchThatFailed() {
        TargetBatch first = new TargetBatch();
        TargetBatch failed = new TargetBatch();
        TargetBatch third = new TargetBatch();
        batches.add(first, 10, 3, 10, 0, -1);
        batches.add(failed, 20, 3, 10, 0, -1);
        batches.add(third, 30, 3, 10, 0, -1);
        RuntimeException cause = new IllegalStateException("refused");
        failed.fail(cause);
        third.acknowledge();
        batches.advance(IGNORED);
        assertThat(batches.failureOrNull())
                .as("the first may still be acknowledged")
                .isNull();
        assertThat(batches.isAwaited()).isTrue();

        first.acknowledge();

        assertThat(batches.advance(IGNORED)).isEqualTo(10);
        assertThat(batches.advance(IGNORED)).isZero();
        assertThat(batches.failureOrNull()).isSameAs(cause);
        assertThat(batches.positionOrNull()).isEqualTo(position(10, 3));
        assertThat(batches.outstanding()).isEqualTo(20);
        assertThat(batches.isAwaited()).isFalse();
        batches.skipTo(40, 3);
        assertThat(batches.positionOrNull()).isEqualTo(position(10, 3));
    }

    @Test
    void shouldRefuseToMoveBack() {
        batches.add(new TargetBatch(), 10, 3, 10, 0, -1);

        assertThatThrownBy(() -> batches.add(new TargetBatch(), 10, 3, 1, 0, -1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Position 10 is not after 10");
        assertThatThrownBy(() -> batches.skipTo(9, 3)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldAskOnceForABatchWhateverTheNumberOfItsRecords() {
        TargetBatch batch = new TargetBatch();
        for (int i = 1; i <= 10_000; i++) {
            batches.add(batch, i, 3, 1, 0, -1);
        }
        batch.acknowledge();

        assertThat(batches.advance(IGNORED)).isEqualTo(10_000);
        assertThat(batch.asked).isEqualTo(1);
    }

    /** The model keeps an entry for each record. */
    @Test
    void shouldHaveThePositionOfAModelWhenOutcomesComeInAnyOrder() {
        long seed = Long.getLong("millrace.seed", System.nanoTime());
        System.out.println("AckedBatchesTest runs with -Dmillrace.seed=" + seed);
        Random random = new Random(seed);
        for (int i = 0; i < 300; i++) {
            new ModelRun(random).run();
        }
    }

    private static final class ModelRun {
        /** A source offset range, and what it waits for; null if nothing of it is sent. */
        private record Step(long nextOffset, int epoch, int records, TargetBatch batch) {}

        private final Random random;
        private static final AckListener IGNORED = (records, bytes, timestamp, ackedAtMs) -> {};

        private final AckedBatches batches = new AckedBatches(-1);
        private final List<Step> steps = new ArrayList<>();
        private final List<TargetBatch> open = new ArrayList<>();
        private TargetBatch filling = new TargetBatch();
        private long next;
        private int epoch;
        private long advanced;
        private boolean mayFail;

        ModelRun(Random random) {
            this.random = random;
            open.add(filling);
        }

        void run() {
            mayFail = random.nextInt(3) == 0;
            for (int i = 0; i < 200; i++) {
                switch (random.nextInt(6)) {
                    case 0, 1, 2 -> send();
                    case 3 -> skip();
                    case 4 -> complete();
                    default -> compare();
                }
            }
            while (!open.isEmpty()) {
                complete();
            }
            compare();
        }

        private void send() {
            if (random.nextInt(4) == 0 || filling.done) {
                filling = new TargetBatch();
                open.add(filling);
            }
            int records = 1 + random.nextInt(5);
            next += records + random.nextInt(2);
            epoch += random.nextInt(20) == 0 ? 1 : 0;
            steps.add(new Step(next, epoch, records, filling));
            batches.add(filling, next, epoch, records, 10L * records, -1);
        }

        private void skip() {
            next += random.nextInt(3);
            if (steps.isEmpty() || steps.get(steps.size() - 1).nextOffset != next) {
                steps.add(new Step(next, epoch, 0, null));
            }
            batches.skipTo(next, epoch);
        }

        private void complete() {
            if (open.isEmpty()) {
                return;
            }
            TargetBatch batch = open.remove(random.nextInt(open.size()));
            if (mayFail && random.nextInt(10) == 0) {
                batch.fail(new IllegalStateException("refused"));
            } else {
                batch.acknowledge();
            }
        }

        private void compare() {
            advanced += batches.advance(IGNORED);
            OffsetAndMetadata expected = null;
            long acked = 0;
            long sent = 0;
            boolean prefix = true;
            for (Step step : steps) {
                prefix &= step.batch == null || (step.batch.done && step.batch.failure == null);
                sent += step.records;
                if (prefix) {
                    acked += step.records;
                    expected = position(step.nextOffset, step.epoch);
                }
            }
            assertThat(batches.positionOrNull()).isEqualTo(expected);
            assertThat(advanced).isEqualTo(acked);
            assertThat(batches.outstanding()).isEqualTo(sent - acked);
            assertThat(batches.outstandingBytes()).isEqualTo(10 * (sent - acked));
        }
    }

    @Test
    void shouldTellOfEachBatchOnceWithTheTimeOfItsFirstRecords() {
        List<List<Long>> told = new ArrayList<>();
        TargetBatch first = new TargetBatch();
        TargetBatch second = new TargetBatch();
        batches.add(first, 10, 3, 10, 1_000, 70);
        batches.add(first, 15, 3, 5, 400, 90);
        batches.add(second, 20, 3, 5, 300, 95);
        first.acknowledge();
        first.doneAtMs = 120;
        second.doneAtMs = 110;
        second.acknowledge();

        for (int i = 0; i < 2; i++) {
            batches.advance((records, bytes, timestamp, at) -> told.add(List.of(records, bytes, timestamp, at)));
        }

        assertThat(told).containsExactly(List.of(15L, 1_400L, 70L, 120L), List.of(5L, 300L, 95L, 110L));
    }

    private static OffsetAndMetadata position(long offset, int epoch) {
        return new OffsetAndMetadata(offset, Optional.of(epoch), "");
    }
}
