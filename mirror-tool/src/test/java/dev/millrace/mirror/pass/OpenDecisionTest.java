package dev.millrace.mirror.pass;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.junit.jupiter.api.Test;

class OpenDecisionTest {
    private static final int LARGE = 2_000;
    private static final TargetLimits ANYTHING = new TargetLimits(TargetLimits.ANY_CODEC, Integer.MAX_VALUE);

    @Test
    void shouldPassWhatAProducerCouldHaveSentWhenItIsLarge() {
        assertThat(reason(PassMode.AUTO, ANYTHING, large(), 100)).isNull();
        assertThat(reason(PassMode.AUTO, ANYTHING, large(), 0)).isNull();
        assertThat(reason(PassMode.AUTO, ANYTHING, large().producer(5, false), 100))
                .isNull();
        assertThat(reason(PassMode.AUTO, ANYTHING, large().producer(5, true), 100))
                .as("committed")
                .isNull();
    }

    @Test
    void shouldOpenInEveryModeWhenNoProducerCouldHaveSentTheBatch() {
        assertOpened(OpenReason.OLD_FORMAT, large().magic(0).make(), 100);
        assertOpened(OpenReason.OLD_FORMAT, large().magic(1).make(), 100);
        assertOpened(OpenReason.EMPTY, BatchMaker.empty(100, 200, 5, false, false), 100);
        assertOpened(OpenReason.RESUME_INSIDE, large().make(), 101);
        assertOpened(OpenReason.UNKNOWN_ATTRIBUTES, large().make().putShort(21, (short) (1 << 7)), 100);
        assertOpened(OpenReason.UNKNOWN_ATTRIBUTES, large().make().putShort(21, (short) (1 << 15)), 100);
        assertOpened(OpenReason.UNKNOWN_ATTRIBUTES, large().make().putShort(21, (short) 5), 100);
        assertOpened(OpenReason.DELETE_HORIZON, large().deleteHorizon(1).make(), 100);
        assertOpened(OpenReason.LOG_APPEND_TIME, large().logAppendTime(1).make(), 100);
        assertOpened(OpenReason.GAPS, large().lastOffset(100 + LARGE).make(), 100);
        assertOpened(
                OpenReason.GAPS, large().record(100 + LARGE + 1, 1, null, null).make(), 100);
    }

    private static void assertOpened(OpenReason reason, ByteBuffer batch, long position) {
        for (PassMode mode : PassMode.values()) {
            assertThat(reason(mode, ANYTHING, batch, position)).isEqualTo(reason);
        }
    }

    @Test
    void shouldOpenWhenTheTargetWouldNotTakeTheBatchAsItIs() {
        ByteBuffer batch = large().make();
        TargetLimits sameCodec = new TargetLimits(CompressionType.LZ4.id, batch.limit());
        TargetLimits otherCodec = new TargetLimits(CompressionType.ZSTD.id, batch.limit());
        TargetLimits tooSmall = new TargetLimits(TargetLimits.ANY_CODEC, batch.limit() - 1);

        for (PassMode mode : EnumSet.of(PassMode.AUTO, PassMode.BATCHES)) {
            assertThat(reason(mode, sameCodec, batch, 100)).isNull();
            assertThat(reason(mode, otherCodec, batch, 100)).isEqualTo(OpenReason.TARGET_CODEC);
            assertThat(reason(mode, tooSmall, batch, 100)).isEqualTo(OpenReason.TOO_LARGE);
        }
    }

    @Test
    void shouldFollowTheModeWhenABatchMayBePassed() {
        ByteBuffer small = new BatchMaker(100).records(10).make();

        assertThat(reason(PassMode.AUTO, ANYTHING, small, 100)).isEqualTo(OpenReason.SMALL);
        assertThat(reason(PassMode.BATCHES, ANYTHING, small, 100)).isNull();
        assertThat(reason(PassMode.RECORDS, ANYTHING, small, 100)).isEqualTo(OpenReason.RECORDS_MODE);
        assertThat(reason(PassMode.RECORDS, ANYTHING, large(), 100)).isEqualTo(OpenReason.RECORDS_MODE);
    }

    @Test
    void shouldRefuseToDecideWhenTheBatchHasNoData() {
        ByteBuffer marker = BatchMaker.marker(100, 5, new EndTransactionMarker(ControlRecordType.COMMIT, 0));

        assertThatThrownBy(() -> reason(PassMode.AUTO, ANYTHING, marker, 100))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("offset 100 is a control batch");
    }

    /** The sizes are those of the measurement that the costs are taken from. */
    @Test
    void shouldMergeOnlyBatchesThatCostTheTargetMoreThanTheMirror() {
        assertThat(isMerged(1, 100)).isTrue();
        assertThat(isMerged(23, 1_000)).isTrue();
        assertThat(isMerged(102, 3_600)).isTrue();
        assertThat(isMerged(590, 19_500)).isFalse();
        assertThat(isMerged(2_700, 90_000)).isFalse();
        assertThat(isMerged(1, 20_000)).as("one large record").isFalse();
        assertThat(isMerged(1_000, 3_000)).as("many tiny records").isFalse();
    }

    private static boolean isMerged(int records, int size) {
        return reason(PassMode.AUTO, ANYTHING, header(CompressionType.SNAPPY, records, size), 100) == OpenReason.SMALL;
    }

    @Test
    void shouldMergeLargerBatchesWhenTheyAreNotCompressed() {
        ByteBuffer batch = header(CompressionType.NONE, 200, 22_000);
        assertThat(reason(PassMode.AUTO, ANYTHING, batch, 100)).isEqualTo(OpenReason.SMALL);
        assertThat(reason(PassMode.AUTO, ANYTHING, header(CompressionType.NONE, 500, 55_000), 100))
                .isNull();
    }

    @Test
    void shouldKeepItsChoiceWhenBatchesAreOnceLargerAndOnceSmaller() {
        // The average of the two is the threshold, so that without hysteresis the choice would change each time.
        ByteBuffer less = header(CompressionType.NONE, 10, OpenDecision.BATCH_NANOS - 1_000 - 10_000);
        ByteBuffer more = header(CompressionType.NONE, 10, OpenDecision.BATCH_NANOS - 1_000 + 10_000);

        assertThat(choices(less, more)).containsExactly(OpenReason.SMALL);
        assertThat(choices(more, less)).hasSize(1).containsNull();
    }

    private static Set<OpenReason> choices(ByteBuffer first, ByteBuffer second) {
        OpenDecision decision = new OpenDecision(PassMode.AUTO, ANYTHING);
        Set<OpenReason> choices = new java.util.HashSet<>();
        for (int i = 0; i < 100; i++) {
            choices.add(next(decision, i % 2 == 0 ? first : second));
        }
        return choices;
    }

    @Test
    void shouldChangeItsChoiceOnceWhenBatchesBecomeLargerForGoodAndBack() {
        OpenDecision decision = new OpenDecision(PassMode.AUTO, ANYTHING);
        ByteBuffer small = header(CompressionType.LZ4, 50, 1_700);
        ByteBuffer large = header(CompressionType.LZ4, 600, 20_000);
        assertThat(next(decision, small)).isEqualTo(OpenReason.SMALL);

        assertThat(next(decision, large)).as("one does not count").isEqualTo(OpenReason.SMALL);
        assertThat(batchesUntil(null, decision, large)).isLessThan(20);
        assertThat(next(decision, small)).as("one does not count").isNull();
        assertThat(batchesUntil(OpenReason.SMALL, decision, small)).isLessThan(30);
    }

    private static int batchesUntil(OpenReason choice, OpenDecision decision, ByteBuffer batch) {
        for (int i = 0; i < 1_000; i++) {
            if (next(decision, batch) == choice) {
                for (int j = 0; j < 100; j++) {
                    assertThat(next(decision, batch)).isEqualTo(choice);
                }
                return i;
            }
        }
        throw new AssertionError("never " + choice);
    }

    @Test
    void shouldNotLetBatchesCountThatAreOpenedAnyway() {
        OpenDecision decision = new OpenDecision(PassMode.AUTO, ANYTHING);
        ByteBuffer large = large().make();
        assertThat(next(decision, large)).isNull();
        for (int i = 0; i < 100; i++) {
            next(decision, BatchMaker.empty(100, 200, 5, false, false));
            next(decision, new BatchMaker(100).magic(1).records(1).make());
        }

        assertThat(next(decision, large)).isNull();
    }

    private static OpenReason next(OpenDecision decision, ByteBuffer bytes) {
        SourceBatch batch = BatchMaker.first(bytes);
        decision.onBatch(batch);
        return decision.reasonToOpenOrNull(batch, 100);
    }

    private static BatchMaker large() {
        return new BatchMaker(100).codec(CompressionType.LZ4).records(LARGE);
    }

    /** A batch of which only the header can be read. */
    private static ByteBuffer header(CompressionType codec, int records, int size) {
        return ByteBuffer.allocate(size)
                .put(BatchMaker.empty(100, 100 + records - 1, -1, false, false))
                .clear()
                .putInt(8, size - 12)
                .putShort(21, (short) codec.id)
                .putInt(57, records);
    }

    private static OpenReason reason(PassMode mode, TargetLimits target, BatchMaker batch, long position) {
        return reason(mode, target, batch.make(), position);
    }

    private static OpenReason reason(PassMode mode, TargetLimits target, ByteBuffer bytes, long position) {
        OpenDecision decision = new OpenDecision(mode, target);
        SourceBatch batch = BatchMaker.first(bytes);
        decision.onBatch(batch);
        return decision.reasonToOpenOrNull(batch, position);
    }
}
