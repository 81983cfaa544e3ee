package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.accumulator.RecordFuture;
import dev.millrace.client.delivery.DeliveryCallback;
import dev.millrace.client.delivery.DeliveryCertainty;
import dev.millrace.client.io.ScriptedBrokers.Request;
import dev.millrace.kafka.common.record.internal.DefaultRecordBatch;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownProducerIdException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Order and sequences, one situation a test; {@link ExactlyOnceSimulationTest} mixes them at random. Requests are
 * written as {@code broker <- [partition:epoch:sequence]}.
 */
class SequencesTest {
    /** KAFKA-15591. */
    @Test
    void shouldHaveOneBatchInFlightUntilTheLeaderHasAcceptedOne() {
        // given
        ScriptedIo io = ScriptedIo.idempotent(1);
        send(io, 0, 4);

        // when, then
        io.run();
        assertThat(io.brokers.pending()).hasToString("[1 <- [0:0:0]]");

        // when, then
        io.brokers.pending().get(0).accept();
        io.run();
        assertThat(io.brokers.pending()).hasToString("[1 <- [0:0:1], 1 <- [0:0:2], 1 <- [0:0:3]]");
    }

    /** KAFKA-15591: a new leader is as new as a new partition. */
    @Test
    void shouldHaveOneBatchInFlightAgainWhenTheLeaderHasMoved() {
        // given three in flight at broker 1
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        send(io, 0, 3);
        io.run();

        // when
        io.brokers.moveLeader(0, 2);
        refuseAll(io, new NotLeaderOrFollowerException("moved"));
        io.passBackoff();

        // then
        assertThat(io.brokers.pending()).hasToString("[2 <- [0:0:1]]");
        io.brokers.pending().get(0).accept();
        io.run();
        assertThat(io.brokers.pending()).hasToString("[2 <- [0:0:2], 2 <- [0:0:3]]");
    }

    @Test
    void shouldSendNothingToTheNewLeaderWhileTheOldOneHasNotAnswered() {
        // given
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        send(io, 0, 2);
        io.run();

        // when
        io.brokers.moveLeader(0, 2);
        io.metadata.request();
        io.passBackoff();
        send(io, 0, 1);
        io.run();

        // then
        assertThat(io.brokers.pending()).hasToString("[1 <- [0:0:1], 1 <- [0:0:2]]");
        acceptAll(io);
        assertThat(io.brokers.pending()).hasToString("[2 <- [0:0:3]]");
    }

    /** KAFKA-3197, KAFKA-5494: whatever is lost, batches go out again as they were, in order. */
    @Test
    void shouldKeepSequencesAndOrderWhenAnswersAreLost() {
        // given
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        List<RecordFuture> futures = send(io, 0, 3);
        io.run();
        byte[] first = io.brokers.pending().get(0).batches.get(0).bytes();

        // when
        refuseAll(io, new NetworkException("lost"));
        send(io, 0, 1);
        io.passBackoff();

        // then only the next in line goes, byte for byte the same
        assertThat(io.brokers.pending()).hasToString("[1 <- [0:0:1]]");
        assertThat(io.brokers.pending().get(0).batches.get(0).bytes()).isEqualTo(first);
        acceptAll(io);
        assertThat(io.brokers.pending()).hasToString("[1 <- [0:0:2], 1 <- [0:0:3], 1 <- [0:0:4]]");
        acceptAll(io);
        assertThat(futures).allMatch(RecordFuture::isDone);
    }

    @Test
    void shouldHoldBackLaterBatchesWhenAnEarlierOneIsRefused() {
        // given
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        send(io, 0, 3);
        io.run();

        // when the first is refused, and the others have not been answered
        io.brokers.pending().get(0).refuse(new NotEnoughReplicasException("first"));
        send(io, 0, 1);
        io.passBackoff();

        // then
        assertThat(io.brokers.pending()).hasToString("[1 <- [0:0:2], 1 <- [0:0:3]]");
        refuseAll(io, new OutOfOrderSequenceException("they came without the first"));
        io.passBackoff();
        assertThat(io.brokers.pending()).hasToString("[1 <- [0:0:1]]");
    }

    /** KAFKA-3197. */
    @Test
    void shouldKeepOrderWithoutIdempotenceWhenOneRequestMayBeInFlight() {
        // given
        ScriptedIo io = ScriptedIo.notIdempotent(1, 1);
        io.warmUp(0);
        RecordFuture first = send(io, 0, 1).get(0);
        RecordFuture second = send(io, 0, 1).get(0);
        io.run();
        assertThat(io.brokers.pending()).hasSize(1);

        // when
        refuseAll(io, new NetworkException("lost"));
        io.passBackoff();
        acceptAll(io);

        // then
        assertThat(first.isDone()).isTrue();
        assertThat(second.isDone()).isFalse();
        acceptAll(io);
        assertThat(second.isDone()).isTrue();
    }

    @Test
    void shouldMuteThePartitionAndNotTheBrokerWhenOneRequestMayBeInFlight() {
        // given partition 0 in flight at broker 1
        ScriptedIo io = ScriptedIo.notIdempotent(2, 1);
        io.warmUp(0);
        io.warmUp(1);
        send(io, 0, 1);
        io.run();

        // when both move to broker 2, which has nothing to do
        io.brokers.moveLeader(0, 2);
        io.brokers.moveLeader(1, 2);
        io.metadata.request();
        io.passBackoff();
        send(io, 0, 1);
        send(io, 1, 1);
        io.run();

        // then only the partition that has nothing in flight goes there
        assertThat(io.brokers.pending()).hasToString("[1 <- [0:-1:-1], 2 <- [1:-1:-1]]");
    }

    /** KAFKA-5494. */
    @Test
    void shouldHaveFiveBatchesOfAPartitionInFlightWhenIdempotent() {
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        io.brokers.maxInFlight = 100;

        send(io, 0, 8);
        io.run();

        assertThat(io.brokers.pending()).hasSize(5);
    }

    @Test
    void shouldGiveNoNewSequenceWhileItIsUnknownWhatBecameOfAnExpiredBatch() {
        // given a batch that expires in flight
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        RecordFuture expired = io.send(0);
        io.run();
        io.passTime(ScriptedIo.DELIVERY_TIMEOUT_MS);
        assertThat(expired.isDone()).isTrue();
        assertThatThrownBy(expired::get).hasCauseInstanceOf(TimeoutException.class);

        // when
        send(io, 0, 2); // the second seals the first one's batch
        io.run();

        // then
        assertThat(io.brokers.pending()).hasToString("[1 <- [0:0:1]]");
    }

    @Test
    void shouldGoOnWithTheSequencesWhenTheExpiredBatchWasWrittenAfterAll() {
        ScriptedIo io = ioWithExpiredBatchInFlight();

        acceptAll(io);

        assertThat(io.brokers.pending()).hasToString("[1 <- [0:0:2]]");
    }

    @Test
    void shouldStartANewEpochWhenTheExpiredBatchMayNotHaveBeenWritten() {
        ScriptedIo io = ioWithExpiredBatchInFlight();

        refuseAll(io, new NetworkException("lost"));
        io.passBackoff();

        assertThat(io.brokers.pending()).hasToString("[1 <- [0:1:0]]");
    }

    private static ScriptedIo ioWithExpiredBatchInFlight() {
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        io.send(0);
        io.run();
        io.passTime(ScriptedIo.DELIVERY_TIMEOUT_MS);
        io.send(0);
        io.run();
        return io;
    }

    /** KAFKA-8483, KAFKA-8484: new sequences only when nothing is in flight any more, and in the order of the old. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldStartANewEpochInOrderOnceNothingIsInFlightWhenTheBrokerHasForgottenTheProducer(boolean unknownId) {
        // given
        ApiException forgotten = unknownId
                ? new UnknownProducerIdException("forgotten")
                : new OutOfOrderSequenceException("out of order");
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        send(io, 0, 3);
        io.run();

        // when the first is answered
        io.brokers.pending().get(0).refuse(forgotten);
        io.passBackoff();

        // then nothing goes before the others are, and what is in flight is not touched
        assertThat(io.ids.current().epoch()).isZero();
        assertThat(io.brokers.pending()).hasToString("[1 <- [0:0:2], 1 <- [0:0:3]]");
        refuseAll(io, forgotten);
        io.passBackoff();
        assertThat(io.brokers.pending()).hasToString("[1 <- [0:1:0]]");
        acceptAll(io);
        assertThat(io.brokers.pending()).hasToString("[1 <- [0:1:1], 1 <- [0:1:2]]");
    }

    @Test
    void shouldFailABatchThatIsNotWrittenWhenTheBrokerHasForgottenTheProducerAndAcceptedALaterOne() throws Exception {
        // given
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        List<RecordFuture> futures = send(io, 0, 2);
        io.run();
        Request first = io.brokers.pending().get(0);
        Request second = io.brokers.pending().get(1);

        // when
        first.refuse(new NotEnoughReplicasException("before it is written"));
        second.accept();
        io.passBackoff();

        // then it would be in the log after the later one
        assertThat(io.brokers.pending()).isEmpty();
        assertThatThrownBy(futures.get(0)::get).hasCauseInstanceOf(OutOfOrderSequenceException.class);
        assertThat(futures.get(1).get().hasOffset()).isTrue();
    }

    @Test
    void shouldFailABatchThatIsNotWrittenAtOnceWhenItsAnswerComesAfterThatOfALaterOne() throws Exception {
        // given
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        List<RecordFuture> futures = send(io, 0, 2);
        io.run();
        Request first = io.brokers.pending().get(0);
        Request second = io.brokers.pending().get(1);

        // when
        second.accept();
        first.refuse(new OutOfOrderSequenceException("of what was never sent before"));
        io.passBackoff();

        // then
        assertThatThrownBy(futures.get(0)::get).hasCauseInstanceOf(OutOfOrderSequenceException.class);
        assertThat(futures.get(1).get().hasOffset()).isTrue();
    }

    @Test
    void shouldTellThatABatchMayBeWrittenWhenALaterOneWasAcceptedAndTheBrokerDoesNotRecognizeIt() throws Exception {
        // given
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        List<DeliveryCertainty> told = new ArrayList<>();
        io.send(0, (DeliveryCallback) (metadata, error, certainty) -> told.add(certainty));
        List<RecordFuture> later = send(io, 0, 1);
        io.run();
        Request first = io.brokers.pending().get(0);
        Request second = io.brokers.pending().get(1);

        // when the first answer is lost, and the broker no longer remembers the batch when it comes again
        second.accept();
        first.refuse(new NetworkException("lost"));
        io.brokers.memory = new ProducerMemory(ProducerMemory.Kind.REMEMBERED, 0, 2);
        io.passBackoff();
        io.brokers.pending().get(0).refuse(new OutOfOrderSequenceException("long ago"));
        io.passBackoff();

        // then nothing proves that it is in the log
        assertThat(io.brokers.asked).hasSize(2);
        assertThat(io.brokers.pending()).isEmpty();
        assertThat(told).containsExactly(DeliveryCertainty.POSSIBLY_PERSISTED);
        assertThat(later.get(0).get().hasOffset()).isTrue();
    }

    @Test
    void shouldNotGuessWhenTheBrokerMayHaveForgotten() throws Exception {
        // given
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        List<RecordFuture> futures = send(io, 0, 1);
        io.run();
        io.brokers.expirationMs = OptionalLong.of(1_000);

        // when
        io.brokers.pending().get(0).refuse(new NetworkException("lost"));
        io.passTime(600);
        io.run();

        // then
        assertThat(io.brokers.asked).hasSize(1);
        assertThat(io.brokers.pending()).isEmpty();
        assertThatThrownBy(futures.get(0)::get).hasCauseInstanceOf(OutOfOrderSequenceException.class);
    }

    @Test
    void shouldAskTheLeaderThoughAnotherPartitionAlwaysHasSomethingToSend() {
        // given
        ScriptedIo io = ScriptedIo.idempotent(2);
        io.warmUp(0);
        io.warmUp(1);
        io.brokers.maxInFlight = 1;
        send(io, 0, 1);
        io.run();
        send(io, 1, 4);

        // when
        io.brokers.pending().get(0).refuse(new NetworkException("lost"));
        io.passBackoff();
        io.brokers.pending().get(0).accept();
        io.run();

        // then
        assertThat(io.brokers.asked).hasSize(1);
    }

    @Test
    void shouldSendOneAloneAfterAPause() {
        // given
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        io.passTime(500);

        // when
        send(io, 0, 3);
        io.run();

        // then the broker may have forgotten the producer, and would take any of them
        assertThat(io.brokers.pending()).hasSize(1);
        io.brokers.pending().get(0).accept();
        io.run();
        assertThat(io.brokers.pending()).hasSize(2);
    }

    /** KAFKA-12152: the broker would take an idle partition's next sequence under the new epoch for a gap. */
    @Test
    void shouldStartOverInIdlePartitionsWhenAnotherPartitionStartedANewEpoch() {
        // given
        ScriptedIo io = ScriptedIo.idempotent(2);
        io.warmUp(0);
        io.warmUp(1);

        // when
        startNewEpoch(io, 0);
        send(io, 1, 1);
        io.run();

        // then
        assertThat(io.brokers.pending()).hasToString("[1 <- [1:1:0]]");
    }

    /** KAFKA-14034: what may have been written keeps its name until its fate is known. */
    @Test
    void shouldLeaveBatchesOfOtherPartitionsAloneWhenOnePartitionStartedANewEpoch() {
        // given partition 1 has two in flight
        ScriptedIo io = ScriptedIo.idempotent(2);
        io.warmUp(0);
        io.warmUp(1);
        send(io, 1, 2);
        io.run();
        List<Request> ofPartition1 = io.brokers.pending();

        // when
        startNewEpoch(io, 0);
        ofPartition1.forEach(request -> request.refuse(new NetworkException("lost")));
        send(io, 1, 1);
        io.passBackoff();

        // then they go again as they were, and so does what follows them
        assertThat(io.brokers.pending()).hasToString("[1 <- [1:0:1]]");
        acceptAll(io);
        assertThat(io.brokers.pending()).hasToString("[1 <- [1:0:2], 1 <- [1:0:3]]");

        // and once the partition has nothing on its way it takes the new epoch
        acceptAll(io);
        send(io, 1, 1);
        io.run();
        assertThat(io.brokers.pending()).hasToString("[1 <- [1:1:0]]");
    }

    /** librdkafka 1.9.0 started the sequences anew, and the broker took the records for duplicates. */
    @Test
    void shouldGoOnWithTheSequencesWhenTheTopicWasMissingForAMoment() {
        // given
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        io.brokers.missing.add(ScriptedIo.TOPIC);
        io.metadata.request();
        io.passBackoff();
        io.send(0);
        io.passBackoff();
        assertThat(io.brokers.pending()).isEmpty();

        // when
        io.brokers.missing.clear();
        io.passBackoff();

        // then
        assertThat(io.brokers.pending()).hasToString("[1 <- [0:0:1]]");
    }

    /** KAFKA-7693. */
    @Test
    void shouldGoOnAtZeroBehindTheLastSequence() throws Exception {
        // given a partition that has sent 2^31 - 2 records
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        setSequence(io, Integer.MAX_VALUE - 1);

        // when the batches around the end are lost once
        List<RecordFuture> futures = send(io, 0, 4);
        io.run();
        String around = "[1 <- [0:0:2147483646], 1 <- [0:0:2147483647], 1 <- [0:0:0], 1 <- [0:0:1]]";
        assertThat(io.brokers.pending()).hasToString(around);
        refuseAll(io, new NetworkException("lost"));
        io.passBackoff();
        acceptAll(io);
        acceptAll(io);

        // then they are acknowledged, and nothing is taken for a gap
        assertThat(futures).allMatch(RecordFuture::isDone);
        io.send(0);
        io.run();
        assertThat(io.brokers.pending()).hasToString("[1 <- [0:0:2]]");
    }

    /** KAFKA-7693: the broker counts like this. */
    @Test
    void shouldCountSequencesAsTheBrokerDoes() {
        Random random = new Random(7693);
        for (int i = 0; i < 100_000; i++) {
            int sequence = Integer.MAX_VALUE - random.nextInt(1000);
            int count = 1 + random.nextInt(2000);

            assertThat(Sequences.after(sequence, count))
                    .isEqualTo(DefaultRecordBatch.incrementSequence(sequence, count));
        }
    }

    /** As if that many records had been sent and acknowledged. */
    private static void setSequence(ScriptedIo io, int next) throws ReflectiveOperationException {
        List<?> states =
                (List<?>) field(Drainer.class, "partitions", List.class).get(io.drainer);
        Object sequences =
                field(PartitionState.class, "sequences", Sequences.class).get(states.get(0));
        field(Sequences.class, "next", int.class).set(sequences, next);
        field(Sequences.class, "nextAcknowledged", int.class).set(sequences, next);
    }

    private static VarHandle field(Class<?> owner, String name, Class<?> type) throws ReflectiveOperationException {
        return MethodHandles.privateLookupIn(owner, MethodHandles.lookup()).findVarHandle(owner, name, type);
    }

    /** The partition must have nothing on its way. */
    private static void startNewEpoch(ScriptedIo io, int partition) {
        io.send(partition);
        io.run();
        List<Request> own = io.brokers.pending().stream()
                .filter(request -> request.batches.get(0).partition() == partition)
                .toList();
        own.forEach(request -> request.refuse(new OutOfOrderSequenceException("gap")));
        io.passBackoff();
        io.brokers.pending().stream()
                .filter(request -> request.batches.get(0).partition() == partition)
                .forEach(Request::accept);
        io.run();
    }

    private static List<RecordFuture> send(ScriptedIo io, int partition, int count) {
        List<RecordFuture> futures = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            futures.add(io.send(partition));
        }
        return futures;
    }

    private static void acceptAll(ScriptedIo io) {
        io.brokers.pending().forEach(Request::accept);
        io.run();
    }

    private static void refuseAll(ScriptedIo io, ApiException error) {
        io.brokers.pending().forEach(request -> request.refuse(error));
        io.run();
    }
}
