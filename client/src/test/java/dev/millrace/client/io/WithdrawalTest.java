package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.accumulator.PartitionQueue;
import dev.millrace.client.accumulator.RecordFuture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.junit.jupiter.api.Test;

/** A partition whose records the application takes back. */
class WithdrawalTest {
    private final RuntimeException cause = new IllegalStateException("given up");

    private final ScriptedIo io = ScriptedIo.idempotent(1);

    @Test
    void shouldFailWhatIsNotInFlightAtOnce() {
        io.brokers.reachable = false;
        List<RecordFuture> futures = send(3);

        CompletableFuture<Void> done = withdraw();
        io.brokers.reachable = true;
        io.passBackoff();

        assertThat(futures).allMatch(RecordFuture::isDone);
        assertThat(done).isCompleted();
        assertThat(io.brokers.pending()).isEmpty();
    }

    @Test
    void shouldBeDoneOnlyWhenWhatIsInFlightIsAnswered() {
        List<RecordFuture> sent = send(1);
        List<RecordFuture> later = send(1);

        CompletableFuture<Void> done = withdraw();
        assertThat(done).isNotDone();
        acceptAll();

        assertThat(done).isCompleted();
        assertThat(sent.get(0)).succeedsWithin(Duration.ZERO);
        assertThat(later.get(0)).failsWithin(Duration.ZERO).withThrowableThat().withCause(cause);
        assertThat(io.brokers.pending()).isEmpty();
    }

    @Test
    void shouldNotSendAgainWhatWasInFlight() {
        List<RecordFuture> sent = send(1);

        CompletableFuture<Void> done = withdraw();
        io.brokers.pending().forEach(request -> request.refuse(new NetworkException("gone")));
        io.passBackoff();

        assertThat(done).isCompleted();
        assertThat(sent.get(0)).failsWithin(Duration.ZERO).withThrowableThat().withCause(cause);
        assertThat(io.brokers.pending()).isEmpty();
    }

    @Test
    void shouldSendWhatIsWrittenAfterwards() {
        send(1);
        withdraw();
        io.brokers.pending().forEach(request -> request.refuse(new NetworkException("gone")));
        io.passBackoff();

        List<RecordFuture> next = send(1);
        io.run();
        acceptAll();

        assertThat(next.get(0)).succeedsWithin(Duration.ZERO);
    }

    @Test
    void shouldSendNothingAfterAFailedRecordUntilThePartitionIsWithdrawnIfThatIsWanted() {
        io.accumulator.stopPartitionsAtFailures();
        send(1);
        acceptAll();
        ApiException refusal = new InvalidRecordException("on purpose");
        List<RecordFuture> futures = send(2);
        List<ScriptedBrokers.Request> inFlight = io.brokers.pending();
        assertThat(inFlight).hasSize(2);

        inFlight.get(0).refuse(refusal);
        io.run();
        futures.addAll(send(1));
        inFlight.get(1).refuse(new OutOfOrderSequenceException("the first is missing"));
        io.passBackoff();
        futures.addAll(send(1));

        assertThat(io.brokers.pending()).isEmpty();
        assertThat(futures)
                .hasSize(4)
                .allSatisfy(future -> assertThat(future)
                        .failsWithin(Duration.ZERO)
                        .withThrowableThat()
                        .withCause(refusal));

        assertThat(withdraw()).isCompleted();
        List<RecordFuture> next = send(1);
        acceptAll();
        assertThat(next.get(0)).succeedsWithin(Duration.ZERO);
    }

    @Test
    void shouldSendWhatComesBeforeTheFailedRecord() {
        io.accumulator.stopPartitionsAtFailures();
        send(1);
        acceptAll();
        List<RecordFuture> futures = send(3);
        List<ScriptedBrokers.Request> inFlight = io.brokers.pending();

        inFlight.get(0).refuse(new NetworkException("lost"));
        inFlight.get(1).refuse(new InvalidRecordException("on purpose"));
        inFlight.get(2).refuse(new OutOfOrderSequenceException("the first is missing"));
        io.brokers.memory = new ProducerMemory(ProducerMemory.Kind.REMEMBERED, 0, 0);
        io.passBackoff();
        acceptAll();

        assertThat(futures.get(0)).succeedsWithin(Duration.ZERO);
        assertThat(futures.get(1)).failsWithin(Duration.ZERO);
    }

    /** Otherwise a partition that is given up and taken again at once would fail for ever. */
    @Test
    void shouldSendWhatIsWrittenWhileAWithdrawnRecordIsInFlightAfterIt() {
        io.accumulator.stopPartitionsAtFailures();
        send(1);
        acceptAll();
        send(1);
        List<ScriptedBrokers.Request> inFlight = io.brokers.pending();
        io.brokers.reachable = false;
        List<RecordFuture> unsent = send(1);

        CompletableFuture<Void> done = withdraw();
        List<RecordFuture> next = send(1);
        assertThat(unsent.get(0)).failsWithin(Duration.ZERO);
        assertThat(next.get(0)).isNotDone();
        inFlight.get(0).refuse(new NetworkException("lost"));
        io.brokers.reachable = true;
        io.passBackoff();
        acceptAll();

        assertThat(done).isCompleted();
        assertThat(next.get(0)).succeedsWithin(Duration.ZERO);
    }

    private CompletableFuture<Void> withdraw() {
        CompletableFuture<Void> done = queue().withdraw(cause);
        io.run();
        return done;
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
}
