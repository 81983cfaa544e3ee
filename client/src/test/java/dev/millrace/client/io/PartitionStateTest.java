package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.BatchCodec;
import dev.millrace.client.accumulator.BufferPool;
import dev.millrace.client.accumulator.EncodableRecord;
import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.accumulator.ReadyQueues;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;

class PartitionStateTest {
    private static final Uuid TOPIC_ID = new Uuid(1, 1);
    private static final int NODE = 1;
    private static final ProducerId ID = new ProducerId(7, (short) 0);

    private final ReadyQueues ready = ReadyQueues.forThreads(1);
    private final Accumulator accumulator =
            new Accumulator(new BufferPool(1 << 20, 100, ready::wake), ready, BatchCodec.NONE, () -> 0, 0);

    @Test
    void shouldSendSeveralOnlyAfterTheLeaderAcceptedOne() throws Exception {
        PartitionState state = stateWithBatches(6);
        state.led(TOPIC_ID, 3);

        FinishedBatch first = sendNext(state);
        assertThat(state.candidate(NODE, 0)).isNull();
        accept(state, first);

        sendNext(state);
        sendNext(state);
        state.led(TOPIC_ID, 3);
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
        state.led(TOPIC_ID, 3);
        FinishedBatch sentBefore = sendNext(state);

        state.led(new Uuid(2, 2), 3);
        accept(state, sentBefore);

        FinishedBatch alone = sendNext(state);
        assertThat(state.candidate(NODE, 0)).isNull();
        accept(state, alone);
        sendNext(state);
        sendNext(state);
    }

    private void assertThatOneGoesAloneAfter(Uuid topicId, int epoch) throws InterruptedException {
        // given
        PartitionState state = stateWithBatches(6);
        state.led(TOPIC_ID, 3);
        accept(state, sendNext(state));

        // when
        state.led(topicId, epoch);

        // then
        FinishedBatch alone = sendNext(state);
        assertThat(state.candidate(NODE, 0)).isNull();
        accept(state, alone);
        sendNext(state);
        sendNext(state);
    }

    private static FinishedBatch sendNext(PartitionState state) {
        FinishedBatch batch = state.candidate(NODE, 0);
        assertThat(batch).isNotNull();
        state.send(batch, NODE, ID);
        return batch;
    }

    private static void accept(PartitionState state, FinishedBatch batch) {
        state.settled(batch, true);
        state.accepted(batch);
        batch.decide(0, -1, null);
        state.deliverDecided();
    }

    private PartitionState stateWithBatches(int count) throws InterruptedException {
        for (int i = 0; i <= count; i++) { // the last one stays open
            accumulator.append("t", 0, 0, new EncodableRecord(0, null, new byte[100], new byte[] {0}), null, 0);
        }
        List<PartitionState> states = new ArrayList<>();
        SenderSettings settings =
                new SenderSettings(0, 1_000, 1, new Backoff(10, 100), 1000, 5, true, 60_000, 600_000, true, 300_000);
        accumulator.forEachQueue(
                ready.get(0),
                queue -> states.add(new PartitionState(queue, settings, new NoMetrics(), TransactionShare.NONE)));
        return states.get(0);
    }
}
