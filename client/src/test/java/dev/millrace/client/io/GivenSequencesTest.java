package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.accumulator.PartitionQueue;
import dev.millrace.client.accumulator.RecordFuture;
import dev.millrace.client.accumulator.SequenceStart;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.UnknownProducerIdException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A partition whose sequences the application sets. Requests are written as in {@link SequencesTest}. */
class GivenSequencesTest {
    private final ScriptedIo io = ScriptedIo.idempotent(1);

    @Test
    void shouldGiveTheNextBatchTheSequencesThatWereSet() {
        queue().sequenceFrom(new SequenceStart(77, (short) 3, 500));
        send(2);

        assertThat(sent()).containsExactly("77:3:500"); // alone, until the leader accepts it
        acceptAll();
        assertThat(sent()).containsExactly("77:3:501");
    }

    @Test
    void shouldWrapAfterTheLastSequence() {
        queue().sequenceFrom(new SequenceStart(77, (short) 3, Integer.MAX_VALUE));
        send(2);
        acceptAll();

        assertThat(sent()).containsExactly("77:3:0");
    }

    @Test
    void shouldGoOnWithTheSequencesSetLast() {
        queue().sequenceFrom(new SequenceStart(77, (short) 3, 500));
        send(1);
        acceptAll();

        queue().sequenceFrom(new SequenceStart(77, (short) 4, 0));
        send(1);

        assertThat(sent()).containsExactly("77:4:0");
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                OutOfOrderSequenceException.class,
                UnknownProducerIdException.class,
                InvalidProducerEpochException.class
            })
    void shouldFailABatchWhoseSequencesAreRefusedAndAllAfterIt(Class<? extends ApiException> refusal) throws Exception {
        queue().sequenceFrom(new SequenceStart(77, (short) 3, 500));
        send(1);
        acceptAll();
        List<RecordFuture> futures = send(3); // all in flight
        ApiException refused = refusal.getConstructor(String.class).newInstance("on purpose");

        io.brokers.pending().forEach(request -> request.refuse(refused));
        futures.addAll(send(2));
        io.passBackoff();

        assertThat(sent()).as("sent again").isEmpty();
        assertThat(futures)
                .hasSize(5)
                .allSatisfy(future -> assertThatThrownBy(future::get).hasRootCause(refused));
        assertThat(io.pool.available()).isEqualTo(io.pool.total());
    }

    @Test
    void shouldGoOnAfterAFailureOnceSequencesAreSetAgain() {
        queue().sequenceFrom(new SequenceStart(77, (short) 3, 500));
        send(1);
        io.brokers.pending().get(0).refuse(new OutOfOrderSequenceException("on purpose"));
        io.passBackoff();

        queue().sequenceFrom(new SequenceStart(77, (short) 3, 500)); // the same again
        send(1);

        assertThat(sent()).containsExactly("77:3:500");
    }

    @Test
    void shouldSendABatchAgainUnchangedWhenItsAnswerIsLost() {
        queue().sequenceFrom(new SequenceStart(77, (short) 3, 500));
        send(1);
        io.brokers.pending().get(0).refuse(new NetworkException("lost"));
        io.passBackoff();

        assertThat(sent()).containsExactly("77:3:500");
    }

    @Test
    void shouldSendNothingWithNewSequencesWhileABatchWithTheOldOnesMayStillArrive() {
        queue().sequenceFrom(new SequenceStart(77, (short) 3, 500));
        List<RecordFuture> expired = send(1);
        io.passTime(ScriptedIo.DELIVERY_TIMEOUT_MS + 1);
        assertThat(expired).allMatch(RecordFuture::isDone);

        queue().sequenceFrom(new SequenceStart(77, (short) 4, 0));
        send(1);
        assertThat(sent()).as("in flight").containsExactly("77:3:500");
        acceptAll();

        assertThat(sent()).containsExactly("77:4:0");
    }

    @Test
    void shouldFailWhatFollowsABatchThatExpiredUnsent() {
        queue().sequenceFrom(new SequenceStart(77, (short) 3, 500));
        send(1);
        acceptAll();
        io.brokers.reachable = false;
        List<RecordFuture> futures = send(1);
        io.passTime(ScriptedIo.DELIVERY_TIMEOUT_MS - 1);
        futures.addAll(send(1));
        io.passTime(1);

        io.brokers.reachable = true;
        io.passBackoff();

        assertThat(futures).hasSize(2).allMatch(RecordFuture::isDone);
        assertThat(sent()).as("a record would be missing before it").isEmpty();
    }

    @Test
    void shouldNotSetSequencesOfABatchThatWaits() {
        io.brokers.reachable = false;
        send(1);

        assertThatThrownBy(() -> queue().sequenceFrom(new SequenceStart(77, (short) 3, 500)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("t-0");
    }

    private PartitionQueue queue() {
        return io.accumulator.queue(ScriptedIo.TOPIC, 0, 0);
    }

    private List<RecordFuture> send(int batches) {
        List<RecordFuture> futures = new ArrayList<>();
        for (int i = 0; i < batches; i++) {
            futures.add(io.send(0));
        }
        io.run();
        return futures;
    }

    private void acceptAll() {
        io.brokers.pending().forEach(ScriptedBrokers.Request::accept);
        io.run();
    }

    /** Producer id, epoch and sequence of the batches in flight. */
    private List<String> sent() {
        return io.brokers.pending().stream()
                .flatMap(request -> request.batches.stream())
                .map(batch -> batch.producerId() + ":" + batch.epoch() + ":" + batch.sequence())
                .toList();
    }
}
