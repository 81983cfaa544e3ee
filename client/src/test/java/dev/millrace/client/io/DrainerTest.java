package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.accumulator.BatchCodec;
import dev.millrace.client.accumulator.RecordFuture;
import dev.millrace.client.io.ScriptedBrokers.Request;
import dev.millrace.client.io.ScriptedBrokers.Sent;
import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.ClusterDelta.LeaderHint;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.KafkaStorageException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.NotEnoughReplicasAfterAppendException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TransactionAbortedException;
import org.apache.kafka.common.errors.UnknownTopicIdException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which partition is served when, what an answer does to a batch, and when its memory comes back. */
class DrainerTest {
    /** KAFKA-13834. */
    @Test
    void shouldServeEveryPartitionInTurnWhenARequestHoldsOneBatchOnly() {
        // given more to send in every partition than goes into a request
        int partitions = 4;
        ScriptedIo io = ScriptedIo.withMaxRequestSize(partitions, ScriptedIo.BATCH_SIZE);
        io.brokers.maxInFlight = 1;
        for (int round = 0; round < 10; round++) {
            for (int p = 0; p < partitions; p++) {
                io.send(p);
            }
        }
        io.run();

        // when
        List<Integer> served = new ArrayList<>();
        for (int i = 0; i < 5 * partitions; i++) {
            Request request = io.brokers.pending().get(0);
            assertThat(request.batches).hasSize(1);
            served.add(request.batches.get(0).partition());
            request.accept();
            io.run();
        }

        // then
        for (int turn = 0; turn < 5; turn++) {
            assertThat(served.subList(turn * partitions, (turn + 1) * partitions))
                    .containsExactlyInAnyOrder(0, 1, 2, 3);
        }
    }

    /** With several I/O threads another one may publish an image at any time. */
    @Test
    void shouldSendByTheImageOfTheRoundWhenTheNextOneHasLostTheTopic() {
        // given
        ScriptedIo io = ScriptedIo.idempotent(1);
        RecordFuture future = io.send(0);

        // when
        io.drainer.visitChanged(io.brokers.nowMs);
        ApiException missing = new UnknownTopicOrPartitionException("for a moment");
        io.images.applyDelta(new ClusterDelta("c", List.of(), List.of(), Map.of(ScriptedIo.TOPIC, missing), false));
        io.drainer.drain(io.brokers.nowMs);

        // then
        assertThat(io.images.current().topic(ScriptedIo.TOPIC)).isNull();
        Request request = io.brokers.pending().get(0);
        assertThat(request.image.topic(ScriptedIo.TOPIC)).isNotNull();
        request.accept();
        assertThat(future).isDone();
    }

    /** Else the new topic would take a batch before those that the old one is about to refuse. */
    @Test
    void shouldSendNothingToATopicCreatedAnewBeforeTheOldOneHasAnswered() {
        // given two batches in flight
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        Uuid old = io.brokers.image(ScriptedIo.TOPIC).id();
        io.send(0);
        io.send(0);
        io.run();
        io.send(0);

        // when the third is routed, and then another thread learns of the new topic
        io.drainer.visitChanged(io.brokers.nowMs);
        io.brokers.incarnation++;
        io.images.applyDelta(
                new ClusterDelta("c", List.of(), List.of(io.brokers.image(ScriptedIo.TOPIC)), Map.of(), false));
        io.drainer.drain(io.brokers.nowMs);
        io.run();

        // then
        assertThat(io.brokers.pending())
                .hasSize(3)
                .allSatisfy(request -> assertThat(topicId(request)).isEqualTo(old));
        io.brokers.pending().forEach(request -> request.refuse(new UnknownTopicIdException("deleted")));
        io.passBackoff();
        assertThat(io.brokers.pending())
                .hasToString("[1 <- [0:0:1]]")
                .allSatisfy(request -> assertThat(topicId(request)).isNotEqualTo(old));
    }

    private static Uuid topicId(Request request) {
        return request.image.topic(ScriptedIo.TOPIC).id();
    }

    /** KAFKA-20917. */
    @Test
    void shouldNotLookAtPartitionsThatHaveNothingToDo() {
        // given a thousand partitions that were used once
        int partitions = 1000;
        ScriptedIo io = ScriptedIo.withMaxRequestSize(partitions, Integer.MAX_VALUE);
        for (int p = 0; p < partitions; p++) {
            io.send(p);
        }
        io.run();
        io.brokers.pending().forEach(Request::accept);
        io.passTime(2 * ScriptedIo.DELIVERY_TIMEOUT_MS);
        long before = io.drainer.visits();

        // when one of them is used
        for (int i = 0; i < 100; i++) {
            io.send(7);
            io.run();
            io.brokers.pending().forEach(Request::accept);
            io.run();
        }

        // then
        assertThat(io.drainer.visits() - before).isLessThan(1000);
    }

    @Test
    void shouldKeepATopicInUseByItsRecords() {
        // given a topic that nobody used for long
        ScriptedIo io = ScriptedIo.lingering(1, 1000);
        io.registry.removeIdle(io.brokers.nowMs, 100);
        io.passTime(101);
        assertThat(io.registry.removeIdle(io.brokers.nowMs, 100)).isEmpty();

        // when
        io.send(0);
        io.run();
        Set<String> whileItLingers = io.registry.removeIdle(io.brokers.nowMs, 100);
        io.passTime(1000);
        Set<String> whenItIsSent = io.registry.removeIdle(io.brokers.nowMs, 100);

        // then
        assertThat(whileItLingers).containsExactly(ScriptedIo.TOPIC);
        assertThat(whenItIsSent).containsExactly(ScriptedIo.TOPIC);
    }

    /** KAFKA-1642. */
    @Test
    void shouldNotSpinWhenNoBrokerCanBeReached() {
        // given
        ScriptedIo io = ScriptedIo.idempotent(2);
        io.warmUp(0);
        io.brokers.reachable = false;
        io.send(0);
        io.send(1);
        io.metadata.request();
        io.run();
        io.brokers.waits.clear();

        // when nine seconds pass, each round waiting as long as it may
        long endMs = io.brokers.nowMs + 9_000;
        while (io.brokers.nowMs < endMs) {
            io.runOnce();
            long waited = io.brokers.waits.get(io.brokers.waits.size() - 1);
            assertThat(waited).isPositive();
            io.brokers.nowMs += Math.min(waited, 1000);
        }

        // then
        assertThat(io.brokers.waits).hasSizeLessThanOrEqualTo(9_000 / 50 + 10);
    }

    /** Time counts from the opening of the batch, on the monotonic clock, whatever happens to it meanwhile. */
    @Test
    void shouldExpireABatchWhenDeliveryTimeoutHasPassedSinceItWasOpened() {
        // given a batch that is retried
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        RecordFuture future = io.send(0);
        io.run();
        io.passTime(ScriptedIo.DELIVERY_TIMEOUT_MS / 2);
        io.brokers.pending().get(0).refuse(new NotEnoughReplicasException("later"));
        io.passTime(ScriptedIo.DELIVERY_TIMEOUT_MS / 2 - 1);
        assertThat(future.isDone()).isFalse();

        // when
        io.passTime(1);

        // then
        assertThatThrownBy(future::get)
                .hasCauseInstanceOf(TimeoutException.class)
                .hasMessageContaining("Expiring 1 record(s) for t-0: 10000 ms have passed since the batch was opened")
                .hasMessageEndingWith("; sent 2 time(s)");
    }

    @Test
    void shouldTellOfABatchThatExpiresUnsent() {
        // given
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.brokers.reachable = false;
        RecordFuture future = io.send(0);
        io.run();

        // when
        io.passTime(ScriptedIo.DELIVERY_TIMEOUT_MS);

        // then
        assertThatThrownBy(future::get).hasMessageEndingWith("; it was never sent");
    }

    /** KAFKA-19012, CVE-2026-35554. */
    @Test
    void shouldKeepTheBufferOfABatchThatExpiredInFlightUntilItsRequestIsOver() {
        // given
        ScriptedIo io = ScriptedIo.idempotent(2);
        io.warmUp(0);
        io.warmUp(1);
        RecordFuture expired = io.send(0);
        io.run();
        Request request = io.brokers.pending().get(0);
        Sent sent = request.batches.get(0);
        io.passTime(ScriptedIo.DELIVERY_TIMEOUT_MS);
        assertThat(expired.isDone()).isTrue();

        // when another partition needs memory
        for (int i = 0; i < 10; i++) {
            io.send(1);
        }
        io.run();

        // then what the network still has to write has not changed
        assertThat(Arrays.copyOf(sent.batch().buffer(), sent.batch().size())).isEqualTo(sent.bytes());
        io.brokers.pending().forEach(r -> r.refuse(new NetworkException("gone")));
        io.run();
        assertThat(sent.batch().buffer()).isNull();
    }

    /** KAFKA-3122. */
    @ParameterizedTest
    @MethodSource("fatalErrors")
    void shouldFailAtOnceAndGiveMemoryBackWhenTheBrokerRefusesForGood(ApiException error) {
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        RecordFuture future = io.send(0);
        io.run();

        io.brokers.pending().get(0).refuse(error);
        io.run();

        assertThatThrownBy(future::get).cause().isSameAs(error);
        assertThat(io.pool.available()).isEqualTo(io.pool.total());
    }

    static Stream<ApiException> fatalErrors() {
        return Stream.of(new TopicAuthorizationException("t"), new InvalidRecordException("no"));
    }

    @ParameterizedTest
    @MethodSource("passingErrors")
    void shouldSendAgainAfterABackoffWhenTheBrokerCannotWriteNow(ApiException error) throws Exception {
        // given
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        RecordFuture future = io.send(0);
        io.run();

        // when
        io.brokers.pending().get(0).refuse(error);
        io.run();

        // then
        assertThat(io.brokers.pending()).isEmpty();
        assertThat(io.brokers.waits.get(io.brokers.waits.size() - 1)).isPositive();
        io.passBackoff();
        io.brokers.pending().get(0).accept();
        io.run();
        assertThat(future.get().hasOffset()).isTrue();
        assertThat(io.pool.available()).isEqualTo(io.pool.total());
    }

    static Stream<ApiException> passingErrors() {
        return Stream.of(
                new KafkaStorageException("disk"),
                new NotEnoughReplicasException("isr"),
                new NotEnoughReplicasAfterAppendException("isr"),
                new NetworkException("gone"));
    }

    /** The brokers' errors are constants in kafka-clients: every refusal is the same object. */
    @Test
    void shouldFailWhatIsBufferedAtEachRefusalOfAProducerId() throws Exception {
        ApiException refusal = new ClusterAuthorizationException("not you");
        ScriptedIo io = ScriptedIo.refusedAnId(refusal);
        for (int i = 0; i < 3; i++) {
            // given a record that came after the last refusal
            RecordFuture future = io.send(0);
            io.run();
            assertThat(future.isDone()).isFalse();

            // when
            io.passBackoff();

            // then
            assertThatThrownBy(future::get).cause().isSameAs(refusal);
            assertThat(io.pool.available()).isEqualTo(io.pool.total());
        }

        // and when it is given one
        RecordFuture future = io.send(0);
        io.brokers.idRefusal = null;
        io.passBackoff();
        io.brokers.pending().get(0).accept();
        io.run();
        assertThat(future.get().hasOffset()).isTrue();
    }

    /** Nothing is sent meanwhile that would fill the connection, so that no limit but the round's own is in its way. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldComeToTheEndOfARoundWhenACallbackAlwaysSendsAgain(int records) {
        // given a codec that fails always, and callbacks that try it again
        ScriptedIo io = ScriptedIo.compressing(1, new BrokenCodec());
        IoThread thread = io.thread(TransactionShare.NONE);
        AtomicInteger sends = new AtomicInteger();
        Callback again = new Callback() {
            @Override
            public void onCompletion(RecordMetadata metadata, Exception error) {
                if (sends.incrementAndGet() < 10_000) {
                    io.send(0, this);
                }
            }
        };
        for (int i = 0; i < records; i++) {
            io.send(0, again);
        }

        // when, then
        for (int round = 0; round < 10; round++) {
            int before = sends.get();
            thread.runOnce();
            assertThat(sends.get() - before).isLessThan(100);
            assertThat(io.brokers.waits.get(io.brokers.waits.size() - 1))
                    .as("what is left need not wait")
                    .isZero();
        }
        assertThat(sends).hasValueGreaterThanOrEqualTo(10);
    }

    /** Its native library is missing. */
    private static final class BrokenCodec implements BatchCodec {
        @Override
        public int id() {
            return 4;
        }

        @Override
        public int compress(byte[] batch, int from, int to) {
            throw new NoClassDefFoundError("thrown on purpose");
        }

        @Override
        public byte[] decompress(byte[] batch, int from, int to) {
            throw new AssertionError("nothing was compressed");
        }
    }

    /** A request for each, a moment later, costs more. */
    @Test
    void shouldSendWhatLingersWithTheFirstBatchThatIsDueWhenItsBrokerIsTheSame() {
        // given open batches of three partitions, the last one led by another broker
        ScriptedIo io = ScriptedIo.lingering(3, 50);
        io.brokers.moveLeader(2, 2);
        io.metadata.request();
        io.passTime(1_000);
        io.send(0, 10);
        io.run();
        io.brokers.nowMs += 20;
        io.send(1, 10);
        io.send(2, 10);
        io.run();

        // when
        io.passTime(29);
        assertThat(io.brokers.pending()).isEmpty();
        io.passTime(1);

        // then
        assertThat(io.brokers.pending()).hasToString("[1 <- [0:0:0, 1:0:0]]");
        io.brokers.pending().forEach(Request::accept);
        io.passTime(19);
        assertThat(io.brokers.pending()).isEmpty();
        io.passTime(1);
        assertThat(io.brokers.pending()).hasToString("[2 <- [2:0:0]]");
    }

    @Test
    void shouldSendWhatLingersToItsNewLeaderWhenTheLeaderHasMoved() {
        // given two open batches of one broker
        ScriptedIo io = ScriptedIo.lingering(2, 50);
        io.send(0, 10);
        io.run();
        io.brokers.nowMs += 20;
        io.send(1, 10);
        io.run();

        // when another one becomes the leader of the second partition
        io.brokers.moveLeader(1, 2);
        io.images.applyDelta(
                new ClusterDelta("c", List.of(), List.of(io.brokers.image(ScriptedIo.TOPIC)), Map.of(), false));
        io.passTime(30);

        // then
        assertThat(io.brokers.pending()).hasToString("[1 <- [0:0:0]]");
        io.passTime(20);
        assertThat(io.brokers.pending()).hasToString("[1 <- [0:0:0], 2 <- [1:0:0]]");
    }

    @Test
    void shouldLetABatchLingerThatFillsFastWhenAnotherOneIsDue() {
        // given one batch that is due in 10 ms, and one that has a quarter of batch.size already
        ScriptedIo io = ScriptedIo.lingering(2, 50);
        io.send(0, 10);
        io.run();
        io.brokers.nowMs += 40;
        io.send(1, 10);

        // when
        io.passTime(10);

        // then
        assertThat(io.brokers.pending()).hasToString("[1 <- [0:0:0]]");
        io.brokers.pending().forEach(Request::accept);
        io.passTime(40);
        assertThat(io.brokers.pending()).hasToString("[1 <- [1:0:0]]");
    }

    @Test
    void shouldSendEarlierByWhatTheLingerClockIsSlow() {
        // given
        ScriptedIo io = ScriptedIo.lingering(1, 50);
        io.lingerClockSlowMs = 1;
        io.send(0, 10);
        io.run();
        assertThat(io.drainer.drain(io.brokers.nowMs)).isEqualTo(49);

        // when
        io.passTime(48);

        // then
        assertThat(io.brokers.pending()).isEmpty();
        io.passTime(1);
        assertThat(io.brokers.pending()).hasToString("[1 <- [0:0:0]]");
    }

    /** Its answer comes first in most cases, and a thread that opens a batch meanwhile need not wake the I/O thread. */
    @Test
    void shouldWaitNoLongerAfterARequestThanTheNextBatchMayLinger() {
        // given
        ScriptedIo io = ScriptedIo.lingering(1, 50);
        io.send(0, 10);

        // when
        io.passTime(50);

        // then
        assertThat(io.brokers.pending()).hasSize(1);
        assertThat(io.drainer.drain(io.brokers.nowMs)).isEqualTo(49);
        io.passTime(49);
        assertThat(io.drainer.drain(io.brokers.nowMs)).as("the answer is late").isGreaterThan(50);
    }

    @Test
    void shouldNotWakeForNothingAfterTheAnswer() {
        // given
        ScriptedIo io = ScriptedIo.lingering(1, 50);
        io.send(0, 10);
        io.passTime(50);

        // when
        io.brokers.pending().forEach(Request::accept);
        io.run();

        // then
        assertThat(io.drainer.drain(io.brokers.nowMs)).isGreaterThan(50);
    }

    @Test
    void shouldWaitForTheBatchThatLingersWhenTheOneBeforeItWasSentEarly() {
        // given a batch that lingered until it was full, 20 ms later
        ScriptedIo io = ScriptedIo.lingering(1, 50);
        io.send(0, 10);
        io.run();
        io.brokers.nowMs += 20;
        io.send(0);

        // when the next one is opened
        io.send(0);
        io.run();
        io.brokers.pending().forEach(Request::accept);
        io.run();

        // then
        assertThat(io.brokers.pending()).isEmpty();
        assertThat(io.drainer.drain(io.brokers.nowMs)).isEqualTo(50);
    }

    @Test
    void shouldSendWhatLingersAtOnceWhenSomeoneFlushes() throws Exception {
        // given
        ScriptedIo io = ScriptedIo.lingering(2, 5_000);
        RecordFuture first = io.send(0, 10);
        RecordFuture second = io.send(1, 10);
        io.run();
        assertThat(io.brokers.pending()).isEmpty();

        // when
        Thread flushing = new Thread(() -> {
            try {
                io.accumulator.flush();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        flushing.start();
        while (!io.accumulator.isUrgent()) {
            Thread.onSpinWait();
        }
        io.run();
        io.brokers.pending().forEach(Request::accept);
        io.run();
        flushing.join();

        // then
        assertThat(first.get().hasOffset()).isTrue();
        assertThat(second.get().hasOffset()).isTrue();
    }

    /** Not a millisecond later: a selector waits whole ones. */
    @Test
    void shouldSendAtOnceWithoutLingerWhatIsOpenedWithinTheRound() {
        // given a round that began just before the clock went on
        ScriptedIo io = ScriptedIo.idempotent(1);
        long roundMs = io.brokers.nowMs;
        io.brokers.nowMs++;
        io.send(0);

        // when
        io.drainer.visitChanged(roundMs);
        io.drainer.drain(roundMs);

        // then
        assertThat(io.brokers.pending()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"95, '[1 <- [0:0:1]]'", "94, '[1 <- [0:0:1], 1 <- [0:0:2]]'"})
    void shouldSplitABatchThatIsLargerThanMaxRequestSize(int maxRequestSize, String expected) {
        // given a batch of two records, of 95 bytes
        ScriptedIo io = ScriptedIo.withMaxRequestSize(1, maxRequestSize);
        io.warmUp(0);
        io.send(0, 10);
        io.send(0, 10);

        // when
        io.run();

        // then
        assertThat(io.brokers.pending()).hasToString(expected);
    }

    @ParameterizedTest
    @CsvSource({"156, '[1 <- [0:0:0, 1:0:0]]'", "155, '[1 <- [0:0:0], 1 <- [1:0:0]]'"})
    void shouldPutIntoARequestWhatFits(int maxRequestSize, String expected) {
        // given two batches of 78 bytes
        ScriptedIo io = ScriptedIo.withMaxRequestSize(2, maxRequestSize);
        io.send(0, 10);
        io.send(1, 10);

        // when
        io.run();

        // then
        assertThat(io.brokers.pending()).hasToString(expected);
    }

    /** KIP-951: metadata still names the old one. */
    @Test
    void shouldSendToTheLeaderThatABrokerNames() {
        // given
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        io.send(0);
        io.run();
        Uuid id = io.brokers.image(ScriptedIo.TOPIC).id();

        // when
        io.brokers
                .pending()
                .get(0)
                .refuse(new NotLeaderOrFollowerException("moved"), new LeaderHint(ScriptedIo.TOPIC, id, 0, 2, 1));
        io.passBackoff();

        // then
        assertThat(io.brokers.pending()).hasToString("[2 <- [0:0:1]]");
    }

    /** Its memory is what others wait for; but while the broker is busy, more records in it cost less. */
    @Test
    void shouldSendWhatLingersWhenMemoryIsShortAndItsBrokerIsIdle() {
        // given
        ScriptedIo io = ScriptedIo.lingering(1, 5_000);
        io.send(0, 10);
        io.run();
        assertThat(io.brokers.pending()).isEmpty();

        // when
        io.accumulator.setShortForWaiting(true);
        io.run();
        io.send(0, 10);
        io.run();

        // then
        assertThat(io.brokers.pending()).hasToString("[1 <- [0:0:0]]");
        io.brokers.pending().forEach(Request::accept);
        io.run();
        assertThat(io.brokers.pending()).hasToString("[1 <- [0:0:1]]");
    }

    /** KIP-794: a partitioner avoids a broker that takes nothing. */
    @Test
    void shouldCountABrokerAsStalledWhileBatchesWaitForIt() {
        // given
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        io.brokers.maxInFlight = 1;
        io.send(0);
        io.run();
        io.passTime(ScriptedIo.STALLED_AFTER_MS + 1);
        assertThat(isStalled(io)).as("nothing waits").isFalse();

        // when
        io.send(0);
        io.run();
        io.passTime(ScriptedIo.STALLED_AFTER_MS);
        assertThat(isStalled(io)).isFalse();
        io.passTime(1);

        // then
        assertThat(isStalled(io)).isTrue();
        io.brokers.pending().get(0).accept();
        io.run();
        assertThat(isStalled(io)).as("it took the next").isFalse();
    }

    @Test
    void shouldCountABrokerAsStalledThatHasAllRequestsThatItMayHave() {
        // given
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.warmUp(0);
        for (int i = 0; i < io.brokers.maxInFlight - 1; i++) {
            io.send(0);
            io.run();
        }
        io.passTime(ScriptedIo.STALLED_AFTER_MS + 1);
        assertThat(isStalled(io)).isFalse();

        // when
        io.send(0);
        io.run();
        io.passTime(ScriptedIo.STALLED_AFTER_MS + 1);

        // then
        assertThat(isStalled(io)).isTrue();
        io.images.applyDelta(new ClusterDelta("c", List.of(new Node(2, "h", 2)), List.of(), Map.of(), false));
        io.run();
        assertThat(isStalled(io)).as("it has left the cluster").isFalse();
    }

    private static boolean isStalled(ScriptedIo io) {
        return io.stalled.isStalled(1, io.brokers.nowMs);
    }

    /** As when a transaction is aborted. */
    @Test
    void shouldFailOnlyWhatWasNotSent() throws Exception {
        // given
        ScriptedIo io = ScriptedIo.idempotent(2);
        io.warmUp(0);
        RecordFuture sent = io.send(0);
        io.run();
        RecordFuture unsent = io.send(1);

        // when
        io.drainer.failUnsent(new TransactionAbortedException("on purpose"));

        // then
        assertThatThrownBy(unsent::get).hasCauseInstanceOf(TransactionAbortedException.class);
        assertThat(io.metrics.failedBatches)
                .as("failures that the metrics count")
                .isZero();
        assertThat(sent.isDone()).isFalse();
        io.brokers.pending().forEach(Request::accept);
        io.run();
        assertThat(sent.get().hasOffset()).isTrue();
        assertThat(io.pool.available()).isEqualTo(io.pool.total());
    }
}
