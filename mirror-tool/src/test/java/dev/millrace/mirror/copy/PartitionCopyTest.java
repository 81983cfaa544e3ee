package dev.millrace.mirror.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.mirror.fetch.AbortedTxn;
import dev.millrace.mirror.fetch.FakeFetch;
import dev.millrace.mirror.fetch.FetchedBatches;
import dev.millrace.mirror.pass.AckListener;
import dev.millrace.mirror.pass.BatchMaker;
import dev.millrace.mirror.pass.OpenDecision;
import dev.millrace.mirror.pass.OpenReason;
import dev.millrace.mirror.pass.PassMode;
import dev.millrace.mirror.pass.TargetLimits;
import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import dev.millrace.mirror.status.MirrorObserver;
import dev.millrace.mirror.support.FakePartition;
import dev.millrace.mirror.text.MirrorException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.junit.jupiter.api.Test;

class PartitionCopyTest {
    private static final TopicPartition TP = new TopicPartition("orders", 0);
    private static final int EPOCH = 7;
    private static final AckListener IGNORED = (records, bytes, timestamp, ackedAtMs) -> {};
    private static final int LAST_BYTE_OF_KEY = 75;

    private final FakeFetch fetch = new FakeFetch();
    private final FakePartition target = new FakePartition();
    private final InFlightMemory memory = new InFlightMemory(1 << 20);
    private final List<Integer> polled = new ArrayList<>();
    private final CopyWorker worker = new CopyWorker(
            "worker",
            failure -> {
                throw new AssertionError(failure);
            },
            new MirrorObserver() {
                @Override
                public void onPolled(int records) {
                    polled.add(records);
                }
            });

    private PartitionCopy copy = copy(PassMode.BATCHES, 0, true);

    @Test
    void shouldPassWholeBatchesAndCommitOnlyWhatIsAcknowledged() {
        copy(0, batch(0, 3), batch(3, 2));

        assertThat(target.written()).containsExactly("0-2", "3-4");
        assertThat(copy.position()).isEqualTo(5);
        assertThat(copy.isAwaited()).isTrue();
        assertThat(copy.ackedOrNull()).isNull();
        target.result(1).acknowledge();
        assertThat(copy.advance(IGNORED)).isZero();
        assertThat(copy.ackedOrNull()).isNull();
        target.result(0).acknowledge();
        assertThat(copy.advance(IGNORED)).isEqualTo(5);
        assertThat(copy.ackedOrNull()).isEqualTo(committed(5));
        assertThat(copy.isAwaited()).isFalse();
        assertThat(worker.batches().passed()).isEqualTo(2);
        assertThat(polled).containsExactly(3, 2);
        assertThat(fetch.isAllReleased()).isTrue();
    }

    @Test
    void shouldSendNoMoreOfAnAnswerThanThereIsRoomForAndTheRestLater() {
        byte[] half = new byte[300_000]; // of what is divided
        FetchedBatches fetched = fetch.fetched(
                TP,
                0,
                BatchMaker.join(List.of(
                        new BatchMaker(0).record(0, 1, null, half).make(),
                        new BatchMaker(1).record(1, 1, null, half).make(),
                        new BatchMaker(2).record(2, 1, null, half).make(),
                        batch(3, 1))));
        InFlightMemory.Share share = memory.new Share();
        assertThat(copy.tryOpen()).isTrue();

        assertThat(copy.copy(fetched, worker, share)).isFalse();
        assertThat(target.written()).containsExactly("0-0");
        assertThat(copy.copy(fetched, worker, share)).isFalse();
        assertThat(target.written()).containsExactly("0-0");
        assertThat(fetch.isAllReleased()).isFalse();
        target.acknowledgeAll();
        copy.advance(IGNORED);
        assertThat(copy.copy(fetched, worker, share)).isFalse();
        assertThat(target.written()).containsExactly("0-0", "1-1");
        target.acknowledgeAll();
        copy.advance(IGNORED);
        assertThat(copy.copy(fetched, worker, share)).isFalse();
        target.acknowledgeAll();
        copy.advance(IGNORED);
        assertThat(copy.copy(fetched, worker, share)).isTrue();

        assertThat(target.written()).containsExactly("0-0", "1-1", "2-2", "3-3");
        assertThat(polled).containsExactly(1, 1, 1, 1);
        assertThat(fetch.isAllReleased()).isTrue();
    }

    @Test
    void shouldReleaseTheRestOfAnAnswerWhenItIsStopped() {
        byte[] half = new byte[300_000];
        FetchedBatches fetched = fetch.fetched(
                TP,
                0,
                BatchMaker.join(
                        List.of(new BatchMaker(0).record(0, 1, null, half).make(), batch(1, 1))));
        InFlightMemory.Share share = memory.new Share();
        assertThat(copy.tryOpen()).isTrue();
        assertThat(copy.copy(fetched, worker, share)).isFalse();

        copy.stop();

        assertThat(copy.copy(fetched, worker, share)).isTrue();
        assertThat(target.written()).containsExactly("0-0");
        assertThat(copy.position()).isEqualTo(1);
        assertThat(fetch.isAllReleased()).isTrue();
    }

    @Test
    void shouldMergeRecordsOfSeveralBatchesIntoOneEntryOfProgress() {
        copy = copy(PassMode.RECORDS, 0, true);

        copy(0, batch(0, 2), batch(2, 1));

        assertThat(target.written()).containsExactly("key-0", "key-1", "key-2");
        assertThat(worker.batches().opened(OpenReason.RECORDS_MODE)).isEqualTo(2);
        target.result(0).acknowledge();
        assertThat(copy.advance(IGNORED)).isEqualTo(3);
        assertThat(copy.ackedOrNull()).isEqualTo(committed(3));
    }

    @Test
    void shouldCommitTheMiddleOfABatchWhoseRecordsAreInTwoBatchesAtTheTarget() {
        copy = copy(PassMode.RECORDS, 0, true);
        sealBefore(3);

        copy(0, batch(0, 4));

        target.result(0).acknowledge();
        assertThat(copy.advance(IGNORED)).isEqualTo(2);
        assertThat(copy.ackedOrNull()).isEqualTo(committed(2));
        assertThat(copy.outstanding()).isEqualTo(2);
    }

    @Test
    void shouldOpenTheBatchInWhoseMiddleItResumesAndLeaveOutWhatTheTargetHas() {
        copy = copy(PassMode.BATCHES, 2, true);

        copy(2, batch(0, 4), batch(4, 2));

        assertThat(target.written()).containsExactly("key-2", "key-3", "4-5");
        assertThat(worker.batches().opened(OpenReason.RESUME_INSIDE)).isEqualTo(1);
        target.acknowledgeAll();
        assertThat(copy.advance(IGNORED)).isEqualTo(4);
        assertThat(copy.ackedOrNull()).isEqualTo(committed(6));
    }

    @Test
    void shouldLeaveOutBatchesThatEndBeforeThePosition() {
        copy = copy(PassMode.BATCHES, 3, true);

        copy(3, batch(0, 3), batch(3, 2));

        assertThat(target.written()).containsExactly("3-4");
    }

    @Test
    void shouldMovePastWhatCompactionLeftAtTheEndOfABatch() {
        copy(0, new BatchMaker(0).records(2).lastOffset(9).make(), batch(10, 1));

        assertThat(target.written()).containsExactly("key-0", "key-1", "10-10");
        assertThat(worker.batches().opened(OpenReason.GAPS)).isEqualTo(1);
        target.result(0).acknowledge();
        copy.advance(IGNORED);
        assertThat(copy.ackedOrNull()).isEqualTo(committed(10));
    }

    @Test
    void shouldSendNothingOfAnAbortedTransactionAndCommitPastIt() {
        ByteBuffer aborted = new BatchMaker(0).producer(42, true).records(2).make();
        ByteBuffer committed = new BatchMaker(2).producer(43, true).records(1).make();

        copy.tryOpen();
        copy.copy(
                fetch.fetched(
                        TP,
                        0,
                        BatchMaker.join(
                                List.of(aborted, committed, marker(3, 42, ControlRecordType.ABORT), batch(4, 1))),
                        new AbortedTxn(42, 0)),
                worker,
                memory.new Share());

        assertThat(target.written()).containsExactly("2-2", "4-4");
        assertThat(worker.batches().skipped()).isEqualTo(2);
        assertThat(copy.ackedOrNull()).isEqualTo(committed(2));
        target.acknowledgeAll();
        copy.advance(IGNORED);
        assertThat(copy.ackedOrNull()).isEqualTo(committed(5));
    }

    @Test
    void shouldCommitPastAMarkerThatIsFollowedByNothingOnceAllBeforeItIsAcknowledged() {
        copy(0, batch(0, 1), marker(1, 42, ControlRecordType.COMMIT));

        copy.advance(IGNORED);
        assertThat(copy.ackedOrNull()).isNull();
        target.acknowledgeAll();
        copy.advance(IGNORED);
        assertThat(copy.ackedOrNull()).isEqualTo(committed(2));
    }

    @Test
    void shouldSendNothingAfterABatchThatItCouldNotReadSoThatNothingIsCommittedPastIt() {
        ByteBuffer corrupt = batch(1, 1);
        corrupt.put(LAST_BYTE_OF_KEY, (byte) ~corrupt.get(LAST_BYTE_OF_KEY));
        var following = fetch.fetched(TP, 2, batch(2, 1));

        assertThatThrownBy(() -> copy(0, batch(0, 1), corrupt))
                .isInstanceOf(MirrorException.class)
                .hasMessageContaining("orders partition 0 offset 1")
                .hasCauseInstanceOf(CorruptRecordException.class);
        copy.copy(following, worker, memory.new Share()); // it was in the worker's queue already

        assertThat(target.written()).containsExactly("0-0");
        target.acknowledgeAll();
        copy.advance(IGNORED);
        assertThat(copy.ackedOrNull()).isEqualTo(committed(1));
        assertThat(copy.isAwaited()).isFalse();
        assertThat(fetch.isAllReleased()).isTrue();
    }

    @Test
    void shouldSendNothingAfterARecordThatTheProducerRefused() {
        copy = copy(PassMode.RECORDS, 0, true);
        int[] writes = {0};
        target.beforeWrite(() -> {
            if (++writes[0] == 3) {
                throw new RecordTooLargeException("too large");
            }
        });

        assertThatThrownBy(() -> copy(0, batch(0, 4))).hasRootCauseInstanceOf(RecordTooLargeException.class);
        copy(4, batch(4, 1));

        assertThat(target.written()).containsExactly("key-0", "key-1");
        target.acknowledgeAll();
        assertThat(copy.advance(IGNORED)).isEqualTo(2);
        assertThat(copy.ackedOrNull()).isEqualTo(committed(2));
    }

    @Test
    void shouldWaitForMemoryAsLongAsItTakes() {
        copy = copy(PassMode.RECORDS, 0, true);
        int[] writes = {0};
        target.beforeWrite(() -> {
            if (++writes[0] > 2 && writes[0] < 6) {
                throw new BufferExhaustedException("no memory");
            }
        });

        copy(0, batch(0, 4));

        assertThat(target.written()).containsExactly("key-0", "key-1", "key-2", "key-3");
        assertThat(writes[0]).isEqualTo(7);
    }

    @Test
    void shouldSendNothingMoreWhenItIsStoppedWhileItWaitsForMemory() {
        copy = copy(PassMode.RECORDS, 0, true);
        int[] writes = {0};
        target.beforeWrite(() -> {
            if (++writes[0] > 2) {
                copy.stop();
                throw new BufferExhaustedException("no memory");
            }
        });

        copy(0, batch(0, 4), batch(4, 1));

        assertThat(target.written()).containsExactly("key-0", "key-1");
        target.acknowledgeAll();
        assertThat(copy.advance(IGNORED)).isEqualTo(2);
        assertThat(copy.isAwaited()).isFalse();
        assertThat(copy.ackedOrNull()).isEqualTo(committed(2));
        assertThat(fetch.isAllReleased()).isTrue();
    }

    @Test
    void shouldSendNothingAfterAnError() {
        target.beforeWrite(() -> {
            throw new OutOfMemoryError("for the test");
        });

        assertThatThrownBy(() -> copy(0, batch(0, 1))).isInstanceOf(OutOfMemoryError.class);
        target.beforeWrite(() -> {});
        copy(1, batch(1, 1));

        assertThat(target.written()).isEmpty();
        assertThat(fetch.isAllReleased()).isTrue();
    }

    @Test
    void shouldCommitNothingPastABatchThatFailedHoweverManyAreAcknowledgedAfterIt() {
        copy(0, batch(0, 1), batch(1, 1), batch(2, 1));
        target.result(0).acknowledge();
        target.result(1).fail(new TimeoutException("expired"));
        target.result(2).acknowledge();

        assertThat(copy.advance(IGNORED)).isEqualTo(1);
        copy(3, marker(3, 42, ControlRecordType.COMMIT));
        copy.advance(IGNORED);

        assertThat(copy.failureOrNull()).hasMessage("expired");
        assertThat(copy.ackedOrNull()).isEqualTo(committed(1));
        assertThat(copy.isAwaited()).isFalse();
    }

    /** Its successor may have given the partition its sequences by then. */
    @Test
    void shouldSetNoSequencesOnceStoppedWhileItOpensItsTarget() {
        PartitionCopy[] opened = new PartitionCopy[1];
        CopyTarget slow = partition -> {
            opened[0].stop();
            return new CopyTarget.OpenTarget(
                    target, new OpenDecision(PassMode.BATCHES, new TargetLimits(TargetLimits.ANY_CODEC, 1 << 20)));
        };
        opened[0] = new PartitionCopy(TP, 0, Optional.of(new ResumePoint(7, (short) 1, 0, 0, 0)), false, false, slow);

        assertThat(opened[0].tryOpen()).isFalse();
        assertThat(target.written()).isEmpty();
        assertThat(opened[0].isCopying()).isFalse();
    }

    @Test
    void shouldSendNothingOnceStoppedAndReleaseWhatItGets() {
        copy.stop();

        copy(0, batch(0, 1));

        assertThat(target.written()).isEmpty();
        assertThat(copy.isAwaited()).isFalse();
        assertThat(fetch.isAllReleased()).isTrue();
    }

    @Test
    void shouldSendTheRestOfAnOpenedBatchAndNoOtherWhenStoppedWithinIt() {
        copy = copy(PassMode.RECORDS, 0, true);
        boolean[] awaited = {false};
        target.beforeWrite(() -> {
            copy.stop();
            awaited[0] = copy.isAwaited();
        });

        copy(0, batch(0, 2), batch(2, 2));

        assertThat(awaited[0]).isTrue();
        assertThat(target.written()).containsExactly("key-0", "key-1");
        target.acknowledgeAll();
        copy.advance(IGNORED);
        assertThat(copy.ackedOrNull()).isEqualTo(committed(2));
    }

    @Test
    void shouldGoOnWhereTheLogWasTruncated() {
        copy(0, batch(0, 3), batch(3, 2));

        copy.resetTo(3);
        copy(3, batch(3, 4));

        assertThat(target.written()).containsExactly("0-2", "3-4", "3-6");
        target.acknowledgeAll();
        assertThat(copy.advance(IGNORED)).isEqualTo(9);
        assertThat(copy.ackedOrNull()).isEqualTo(committed(7));
    }

    @Test
    void shouldNotCommitAResetOnceItIsStopped() {
        copy(0, batch(0, 3));
        copy.stop();
        copy(3, batch(3, 4)); // is not sent

        copy.resetTo(5);

        target.acknowledgeAll();
        copy.advance(IGNORED);
        assertThat(copy.ackedOrNull()).isEqualTo(committed(3));
        assertThat(copy.sentOrNull()).isEqualTo(committed(3));
    }

    @Test
    void shouldLeaveTheChecksumOfPassedBatchesToTheTargetWhenToldSo() {
        copy = copy(PassMode.BATCHES, 0, false);
        ByteBuffer corrupt = batch(0, 1);
        corrupt.put(LAST_BYTE_OF_KEY, (byte) ~corrupt.get(LAST_BYTE_OF_KEY));

        copy(0, corrupt);

        assertThat(target.written()).containsExactly("0-0");
    }

    @Test
    void shouldCopyMessagesOfTheOldFormatWithoutCountingTheirNumberAsNegative() {
        copy(
                0,
                new BatchMaker(0)
                        .magic(1)
                        .codec(CompressionType.GZIP)
                        .records(3)
                        .make());

        assertThat(target.written()).containsExactly("key-0", "key-1", "key-2");
        assertThat(polled).isEmpty();
        target.acknowledgeAll();
        copy.advance(IGNORED);
        assertThat(copy.ackedOrNull()).isEqualTo(new OffsetAndMetadata(3));
    }

    @Test
    void shouldKeepNothingOfTheFetchedBytesWhenDone() {
        copy(0, batch(0, 1));

        assertThat(worker.batch().moveToNext()).isFalse();
        assertThat(worker.batch().bytes().capacity()).isZero();
    }

    private PartitionCopy copy(PassMode mode, long position, boolean checksCrc) {
        TargetLimits limits = new TargetLimits(TargetLimits.ANY_CODEC, 1 << 20);
        return new PartitionCopy(
                TP,
                position,
                Optional.empty(),
                checksCrc,
                false,
                partition -> new CopyTarget.OpenTarget(target, new OpenDecision(mode, limits)));
    }

    /** Makes the n-th record the first of a new batch. */
    private void sealBefore(int record) {
        int[] writes = {0};
        target.beforeWrite(() -> {
            if (++writes[0] == record) {
                target.seal();
            }
        });
    }

    private void copy(long fetchOffset, ByteBuffer... batches) {
        assertThat(copy.isStopped() || copy.tryOpen()).isTrue();
        copy.copy(fetch.fetched(TP, fetchOffset, BatchMaker.join(List.of(batches))), worker, memory.new Share());
    }

    private static ByteBuffer batch(long offset, int records) {
        return new BatchMaker(offset).records(records).make();
    }

    private static ByteBuffer marker(long offset, long producerId, ControlRecordType type) {
        return BatchMaker.marker(offset, producerId, new EndTransactionMarker(type, 0));
    }

    private static OffsetAndMetadata committed(long offset) {
        return new OffsetAndMetadata(offset, Optional.of(EPOCH), "");
    }
}
