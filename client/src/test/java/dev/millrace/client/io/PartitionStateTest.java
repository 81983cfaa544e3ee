package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.BatchCodec;
import dev.millrace.client.accumulator.EncodableRecord;
import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.accumulator.ReadyQueues;
import dev.millrace.client.accumulator.RecordFuture;
import dev.millrace.client.delivery.DeliveryCertainty;
import dev.millrace.client.io.BrokerLink.ProduceAnswer;
import dev.millrace.client.memory.BufferPool;
import java.lang.reflect.Field;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PartitionStateTest {
    private static final Uuid TOPIC_ID = new Uuid(1, 1);
    private static final int NODE = 1;
    private static final SenderSettings SETTINGS =
            new SenderSettings(0, 1_000, 1, new Backoff(10, 100), 1000, 5, true, 60_000, 600_000, true, 300_000, true);
    private static final ProducerId ID = new ProducerId(7, (short) 0);

    private final ReadyQueues ready = ReadyQueues.forThreads(1);
    private final Accumulator accumulator =
            new Accumulator(new BufferPool(1 << 20, 100, ready::wake), ready, BatchCodec.NONE, () -> 0, 0);

    @Test
    void shouldSendSeveralOnlyAfterTheLeaderAcceptedOne() throws Exception {
        PartitionState state = stateWithBatches(6);
        state.updateLeader(TOPIC_ID, 3);

        FinishedBatch first = sendNext(state);
        assertThat(state.candidate(NODE, 0)).isNull();
        accept(state, first);

        sendNext(state);
        sendNext(state);
        state.updateLeader(TOPIC_ID, 3);
        sendNext(state);
    }

    @Test
    void shouldSendOneAloneAgainWhenTheSameBrokerLeadsUnderANewEpoch() throws Exception {
        assertThatOneGoesAloneAfter(TOPIC_ID, 5);
    }

    @Test
    void shouldSendOneAloneAgainWhenTheTopicWasCreatedAnew() throws Exception {
        assertThatOneGoesAloneAfter(new Uuid(2, 2), 3);
    }

    @Test
    void shouldNotTakeAnAnswerOfTheOldLeadershipForOneOfTheNew() throws Exception {
        PartitionState state = stateWithBatches(6);
        state.updateLeader(TOPIC_ID, 3);
        FinishedBatch sentBefore = sendNext(state);

        state.updateLeader(new Uuid(2, 2), 3);
        accept(state, sentBefore);

        FinishedBatch alone = sendNext(state);
        assertThat(state.candidate(NODE, 0)).isNull();
        accept(state, alone);
        sendNext(state);
        sendNext(state);
    }

    /** The new leader may have forgotten the producer, and would write the batch a second time. */
    @Test
    void shouldAskTheNewLeaderWhenTheOneBeforeHasToldWhatItRemembers() throws Exception {
        // given
        PartitionState state = stateThatAsks();
        state.onMemory(new ProducerMemory(ProducerMemory.Kind.REMEMBERED, 0, 0), 0, 0);
        assertThat(state.candidate(NODE, 0)).as("what the leader recognizes").isNotNull();

        // when
        state.updateLeader(TOPIC_ID, 4);

        // then
        assertThat(state.isQuestionOpen(0)).isTrue();
        assertThat(state.candidate(NODE, 0)).isNull();
    }

    @Test
    void shouldAskTheNewLeaderWhenTheOneBeforeAnswersAfterItsTime() throws Exception {
        // given
        PartitionState state = stateThatAsks();

        // when
        state.updateLeader(TOPIC_ID, 4);
        state.onMemory(new ProducerMemory(ProducerMemory.Kind.REMEMBERED, 0, 0), 0, 0);

        // then
        assertThat(state.isQuestionOpen(0)).isTrue();
    }

    @Test
    void shouldAskTheNewLeaderAgainWhenOnlyTheOneBeforeHasTold() throws Exception {
        // given
        PartitionState state = stateThatAsks();
        state.onMemory(new ProducerMemory(ProducerMemory.Kind.REMEMBERED, 0, 0), 0, 0);
        state.updateLeader(TOPIC_ID, 4);
        state.ask(NODE);

        // when
        state.onMemory(ProducerMemory.without(ProducerMemory.Kind.UNANSWERED), 0, 0);

        // then
        assertThat(state.isQuestionOpen(0)).isTrue();
    }

    /** Otherwise a producer whose backoff is longer than the time between two moves would never reach a leader. */
    @Test
    void shouldAskTheNewLeaderAtOnceWhenTheOneBeforeIsToBeLeftAlone() throws Exception {
        PartitionState state = stateWithBatches(6);
        state.updateLeader(TOPIC_ID, 3);
        FinishedBatch refused = refuseNext(state);
        state.backOffUntil(refused, 1_000);
        assertThat(state.notBeforeMs()).isEqualTo(1_000);

        state.updateLeader(TOPIC_ID, 4);

        assertThat(state.isQuestionOpen(0)).isTrue();
        assertThat(state.notBeforeMs()).isNegative();
    }

    @Test
    void shouldNotLeaveTheNewLeaderAloneWhenTheOneBeforeRefusesLate() throws Exception {
        PartitionState state = stateWithBatches(6);
        state.updateLeader(TOPIC_ID, 3);
        FinishedBatch sentBefore = sendNext(state);

        state.updateLeader(TOPIC_ID, 4);
        state.onRequestEnded(sentBefore, false);
        state.onRefused(sentBefore);
        state.backOffUntil(sentBefore, 1_000);

        assertThat(state.notBeforeMs()).isNegative();
    }

    @Test
    void shouldNotLeaveTheNewLeaderAloneWhenTheOneBeforeWasAskedAndDidNotAnswer() throws Exception {
        PartitionState state = stateThatAsks();

        state.updateLeader(TOPIC_ID, 4);
        state.onMemory(ProducerMemory.without(ProducerMemory.Kind.UNANSWERED), 0, 1_000);

        assertThat(state.notBeforeMs()).isNegative();
    }

    /** It would know the producer of an open transaction, so it has nothing of it. */
    @Test
    void shouldSendTheBeginningOfATransactionAgainWhenTheLeaderKnowsNothing() throws Exception {
        PartitionState state = stateWithBatchesOfATransaction();
        state.updateLeader(TOPIC_ID, 3);
        FinishedBatch batch = refuseNext(state);
        state.ask(NODE);

        state.onMemory(ProducerMemory.without(ProducerMemory.Kind.FORGOTTEN), 0, 0);

        assertThat(state.candidate(NODE, 0)).isSameAs(batch);
    }

    @Test
    void shouldFailWhenTheLeaderHasLostTheBeginningOfATransaction() throws Exception {
        PartitionState state = stateWithBatchesOfATransaction();
        state.updateLeader(TOPIC_ID, 3);
        accept(state, sendNext(state));
        FinishedBatch batch = refuseNext(state);
        state.ask(NODE);

        state.onMemory(ProducerMemory.without(ProducerMemory.Kind.FORGOTTEN), 0, 0);

        assertThat(batch.error()).isInstanceOf(OutOfOrderSequenceException.class);
    }

    /** The answer to its first batch is lost, so the leader of epoch 3 is asked. */
    private PartitionState stateThatAsks() throws InterruptedException {
        PartitionState state = stateWithBatches(6);
        state.updateLeader(TOPIC_ID, 3);
        refuseNext(state);
        state.ask(NODE);
        return state;
    }

    /** Sends a batch of which nobody knows afterwards whether it is written. */
    private static FinishedBatch refuseNext(PartitionState state) {
        FinishedBatch batch = sendNext(state);
        state.onRequestEnded(batch, false);
        state.onRefused(batch);
        return batch;
    }

    private void assertThatOneGoesAloneAfter(Uuid topicId, int epoch) throws InterruptedException {
        // given
        PartitionState state = stateWithBatches(6);
        state.updateLeader(TOPIC_ID, 3);
        accept(state, sendNext(state));

        // when
        state.updateLeader(topicId, epoch);

        // then
        FinishedBatch alone = sendNext(state);
        assertThat(state.candidate(NODE, 0)).isNull();
        accept(state, alone);
        sendNext(state);
        sendNext(state);
    }

    /** At whatever step it fails, failing all batches still finds this one, and its callbacks run once. */
    @ParameterizedTest
    @EnumSource
    void shouldNotLoseABatchWhenAnErrorMeetsItOnItsWay(Way way) throws Exception {
        // given
        List<Integer> told = new ArrayList<>();
        List<RecordFuture> futures = appendCountingCallbacks(told, way == Way.SPLIT ? 10 : 100);
        FaultyShare share = new FaultyShare();
        PartitionState state = state(share);
        FinishedBatch batch = state.candidate(NODE, 0);
        if (way == Way.SPLIT) {
            state.markInFlight(batch, NODE, ID, 0);
            state.onRequestEnded(batch, true);
        }

        // when
        if (way == Way.NOTE_AS_SENT) {
            breakOutstandingBatches(state);
        } else {
            share.stampsLeft = way == Way.SPLIT ? 1 : 0;
        }
        assertThatThrownBy(() -> {
                    if (way == Way.SPLIT) {
                        state.splitTooLarge(batch);
                    } else {
                        state.markInFlight(batch, NODE, ID, 0);
                    }
                })
                .isInstanceOf(InternalError.class);

        // then
        share.stampsLeft = Integer.MAX_VALUE;
        state.abandonInFlight();
        accumulator.close();
        state.givenUp.failOpenedBefore(Long.MAX_VALUE, any -> new KafkaException("The end"));
        state.deliverDecided();
        assertThat(told).hasSameSizeAs(futures).doesNotHaveDuplicates();
        assertThat(futures).allMatch(RecordFuture::isDone);
        assertThat(state.isIdle()).isTrue();
    }

    /** The step at which the error is thrown. */
    enum Way {
        GET_ITS_SEQUENCE,
        NOTE_AS_SENT,
        SPLIT
    }

    private List<RecordFuture> appendCountingCallbacks(List<Integer> told, int valueSize) throws InterruptedException {
        List<RecordFuture> futures = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            int number = i;
            EncodableRecord record = new EncodableRecord(0, null, new byte[valueSize], new byte[] {0});
            futures.add(accumulator.append("t", 0, 0, record, (metadata, error) -> told.add(number), 0));
        }
        return futures;
    }

    @Test
    void shouldNotSayNotPersistedOfWhatTheBrokerHasWrittenWhenAnErrorMeetsItsAnswer() throws Exception {
        // given
        RecordFuture future = appendCountingCallbacks(new ArrayList<>(), 100).get(0);
        PartitionState state = state(TransactionShare.NONE);
        FinishedBatch batch = sendNext(state);

        // when
        breakOutstandingBatches(state);
        AnswerHandler answerHandler = new AnswerHandler(SETTINGS, new NoMetrics());
        assertThatThrownBy(() -> answerHandler.handle(state, new ProduceAnswer(batch, null, 5, -1), 0))
                .isInstanceOf(InternalError.class);

        // then
        state.abandonInFlight();
        state.givenUp.failOpenedBefore(Long.MAX_VALUE, any -> new KafkaException("The end"));
        state.deliverDecided();
        assertThat(future.certainty()).isEqualTo(DeliveryCertainty.POSSIBLY_PERSISTED);
    }

    /** Throws once, in place of an OutOfMemoryError, when the next batch is added or all of them are iterated. */
    private static void breakOutstandingBatches(PartitionState state) throws ReflectiveOperationException {
        Field outstanding = field(PartitionState.class, "outstanding");
        Field batches = field(OutstandingBatches.class, "batches");
        BrokenDeque broken = new BrokenDeque();
        for (FinishedBatch batch : (OutstandingBatches) outstanding.get(state)) {
            broken.addLast(batch);
        }
        broken.throwsNext = true;
        batches.set(outstanding.get(state), broken);
    }

    private static final class BrokenDeque extends ArrayDeque<FinishedBatch> {
        private static final long serialVersionUID = 1;
        private boolean throwsNext;

        @Override
        public void addLast(FinishedBatch batch) {
            throwOnce();
            super.addLast(batch);
        }

        @Override
        public Iterator<FinishedBatch> iterator() {
            throwOnce();
            return super.iterator();
        }

        private void throwOnce() {
            if (throwsNext) {
                throwsNext = false;
                throw new InternalError("thrown on purpose");
            }
        }
    }

    /** An {@link ArrayDeque} that has no memory to grow looks empty after that. */
    @Test
    void shouldFailMoreBatchesThanItHasRoomForWithoutADequeThatGrows() throws Exception {
        PartitionState state = stateWithBatches(40);
        OutstandingBatches outstanding =
                (OutstandingBatches) field(PartitionState.class, "outstanding").get(state);
        field(OutstandingBatches.class, "batches").set(outstanding, new FixedDeque());

        state.givenUp.failOpenedBefore(Long.MAX_VALUE, any -> new KafkaException("The end"));

        assertThat(outstanding).hasSize(41).allMatch(FinishedBatch::isDecided);
        state.deliverDecided();
        assertThat(state.isIdle()).isTrue();
    }

    private static Field field(Class<?> type, String name) throws ReflectiveOperationException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    private static final class FixedDeque extends ArrayDeque<FinishedBatch> {
        private static final long serialVersionUID = 1;
        private static final int CAPACITY = 16;

        FixedDeque() {
            super(CAPACITY);
        }

        @Override
        public void addLast(FinishedBatch batch) {
            if (size() == CAPACITY) {
                throw new AssertionError("It would have to grow");
            }
            super.addLast(batch);
        }
    }

    private static FinishedBatch sendNext(PartitionState state) {
        FinishedBatch batch = state.candidate(NODE, 0);
        assertThat(batch).isNotNull();
        state.markInFlight(batch, NODE, ID, 0);
        return batch;
    }

    private static void accept(PartitionState state, FinishedBatch batch) {
        state.onRequestEnded(batch, true);
        state.onAccepted(batch, 0);
        batch.decide(0, -1, null);
        state.deliverDecided();
    }

    private PartitionState stateWithBatchesOfATransaction() throws InterruptedException {
        appendBatches(6);
        TransactionState transaction = new TransactionState("id", () -> {});
        return state(new IoThreadTransactionShare(transaction, new TransactionPartitions(() -> {}), () -> {}));
    }

    private PartitionState stateWithBatches(int count) throws InterruptedException {
        appendBatches(count);
        return state(TransactionShare.NONE);
    }

    private void appendBatches(int count) throws InterruptedException {
        for (int i = 0; i <= count; i++) { // the last one stays open
            accumulator.append("t", 0, 0, new EncodableRecord(0, null, new byte[100], new byte[] {0}), null, 0);
        }
    }

    private PartitionState state(TransactionShare share) {
        List<PartitionState> states = new ArrayList<>();
        accumulator.forEachQueue(
                ready.get(0),
                queue -> states.add(
                        new PartitionState(queue, SETTINGS, new BrokerMemory(() -> 0), new NoMetrics(), share)));
        return states.get(0);
    }
}
