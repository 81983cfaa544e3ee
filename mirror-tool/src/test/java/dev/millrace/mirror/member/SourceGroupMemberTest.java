package dev.millrace.mirror.member;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.config.GapPolicy;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.MirrorPolicies;
import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.copy.InFlightMemory;
import dev.millrace.mirror.copy.PartitionCopier;
import dev.millrace.mirror.copy.RecordCopier;
import dev.millrace.mirror.copy.RunningMirror;
import dev.millrace.mirror.fetch.ResetPolicy;
import dev.millrace.mirror.progress.ConsumerPositions;
import dev.millrace.mirror.progress.SourceGaps;
import dev.millrace.mirror.progress.SourcePositions;
import dev.millrace.mirror.progress.SourceProgress;
import dev.millrace.mirror.progress.TopicIdentities;
import dev.millrace.mirror.refused.RecordWithdrawal;
import dev.millrace.mirror.status.MirrorObserver;
import dev.millrace.mirror.support.FakeSourceConsumer;
import dev.millrace.mirror.support.RunningMirrors;
import dev.millrace.mirror.support.Targets;
import dev.millrace.mirror.topics.TargetPartitions;
import dev.millrace.mirror.topics.TargetWatch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.LogTruncationException;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.NoOffsetForPartitionException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A member with a scripted consumer, run in the thread of the test. */
@Timeout(10)
class SourceGroupMemberTest {
    private static final TopicPartition FIRST = new TopicPartition("orders", 0);
    private static final TopicPartition SECOND = new TopicPartition("orders", 1);
    private static final TopicPartition DELETED = new TopicPartition("payments", 0);

    private final AtomicBoolean rebalancing = new AtomicBoolean();
    private final FakeSourceConsumer consumer = new FakeSourceConsumer(rebalancing, "orders", "payments");
    private final Map<TopicPartition, OffsetAndMetadata> committed = consumer.committedOffsets();
    private final Map<TopicPartition, List<Callback>> sent = new HashMap<>();
    private final List<TopicPartition> ensured = new ArrayList<>();
    private final SourceGaps gaps = new SourceGaps(GapPolicy.GO_ON);
    private TargetPartitions target;
    private final Set<TopicPartition> unplacedAtFirstStart = new HashSet<>(Set.of(FIRST, SECOND));
    private final RunningMirror mirror = mirror(1);
    private final SourceGroupMember member = member(mirror, consumer);

    @Test
    void shouldAwaitOnlyTheRecordsOfThePartitionThatIsRevoked() {
        Map<TopicPartition, OffsetAndMetadata> committedAtRevocation = new HashMap<>();
        consumer.schedulePollTask(() -> {
            consumer.assign(FIRST, SECOND);
            consumer.add(FIRST, 3);
            consumer.add(SECOND, 2);
        });
        consumer.schedulePollTask(() -> {
            acknowledgeAll(FIRST);
            consumer.rebalance(List.of(SECOND));
            committedAtRevocation.putAll(committed);
            acknowledgeAll(SECOND);
            mirror.lifecycle().stop();
        });

        member.run();

        assertThat(ensured).containsExactlyInAnyOrder(FIRST, SECOND);
        assertThat(committedAtRevocation.get(FIRST).offset()).isEqualTo(3);
        assertThat(committedAtRevocation).doesNotContainKey(SECOND);
        assertThat(committed.get(SECOND).offset()).isEqualTo(2);
        assertThat(member.totals().inFlight()).isZero();
    }

    @Test
    void shouldAskAgainWhereToBeginWhenTheSourceDoesNotAnswer() {
        consumer.refuseCommitted(2);
        pollAssigns(FIRST, 5);
        pollStopsAfterAllIsAcknowledged();

        member.run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
        assertThat(committed.get(FIRST).offset()).isEqualTo(5);
    }

    @Test
    void shouldCopyTheOthersUntilAPartitionHasALeaderThatTellsItsEnd() {
        SourceGroupMember member = member(mirror, consumer, ensured::add, this::send, gaps, "latest");
        consumer.setLed(SECOND, false);
        consumer.updateEndOffsets(Map.of(FIRST, 0L, SECOND, 1L));
        consumer.schedulePollTask(() -> {
            consumer.assign(FIRST, SECOND);
            consumer.add(FIRST, 3);
            consumer.add(SECOND, 2);
        });
        consumer.schedulePollTask(() -> {
            assertThat(sent).containsOnlyKeys(FIRST);
            assertThat(consumer.paused()).containsExactly(SECOND);
            member.placeTheRest(System.nanoTime() + Duration.ofMinutes(1).toNanos());
            assertThat(consumer.paused()).as("still without a leader").containsExactly(SECOND);
            consumer.setLed(SECOND, true);
            member.placeTheRest(System.nanoTime() + Duration.ofMinutes(2).toNanos());
            assertThat(consumer.paused()).isEmpty();
        });
        pollStopsAfterAllIsAcknowledged();

        member.run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
        assertThat(sent.get(SECOND)).hasSize(1);
        assertThat(committed.get(SECOND).offset()).isEqualTo(2);
    }

    @Test
    void shouldReadNothingOfAPausedTopicAlsoWhenItIsAssignedLaterAndGoOnWhereItWas() {
        mirror.controls().pause(Optional.of(Pattern.compile("payments")));
        consumer.schedulePollTask(() -> {
            consumer.assign(FIRST, DELETED);
            consumer.add(FIRST, 1);
            consumer.add(DELETED, 2);
        });
        consumer.schedulePollTask(() -> {
            assertThat(sent).containsOnlyKeys(FIRST);
            assertThat(consumer.paused()).containsExactly(DELETED);
            mirror.controls().pause(Optional.of(Pattern.compile("orders")));
        });
        consumer.schedulePollTask(() -> {
            assertThat(consumer.paused()).containsExactlyInAnyOrder(FIRST, DELETED);
            mirror.controls().resume(Optional.empty());
        });
        consumer.schedulePollTask(() -> assertThat(consumer.paused()).isEmpty());
        consumer.schedulePollTask(() -> {
            assertThat(sent.get(DELETED)).hasSize(2);
            acknowledgeAll();
            mirror.lifecycle().stop();
        });

        member.run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
        assertThat(committed.get(DELETED).offset()).isEqualTo(2);
    }

    @Test
    void shouldSendTheRestWhenTheThrottleIsTakenOff() {
        mirror.controls().throttle(Optional.empty(), 1_000);
        consumer.schedulePollTask(() -> {
            consumer.assign(FIRST);
            for (int offset = 0; offset < 3; offset++) {
                consumer.addRecord(large(FIRST, offset));
            }
        });
        consumer.schedulePollTask(() -> {
            assertThat(sent.get(FIRST)).hasSize(1);
            assertThat(consumer.paused()).containsExactly(FIRST);
            mirror.controls().throttle(Optional.empty(), 0);
        });
        consumer.schedulePollTask(() -> {
            assertThat(sent.get(FIRST)).hasSize(3);
            assertThat(consumer.paused()).isEmpty();
            acknowledgeAll(FIRST);
            mirror.lifecycle().stop();
        });

        member.run();

        assertThat(committed.get(FIRST).offset()).isEqualTo(3);
    }

    @Test
    void shouldCommitBeforeItLeavesTheGroup() {
        pollAssigns(FIRST, 5);
        pollStopsAfterAllIsAcknowledged();

        member.run();

        assertThat(committed.get(FIRST).offset()).isEqualTo(5);
    }

    @Test
    void shouldCommitPastAnAbortedTransactionThatIsFollowedByNothing() {
        consumer.schedulePollTask(() -> {
            consumer.assign(FIRST, SECOND);
            consumer.returnNext(new ConsumerRecords<>(
                    Map.of(
                            FIRST,
                            List.of(new ConsumerRecord<>(FIRST.topic(), FIRST.partition(), 0, null, new byte[0]))),
                    Map.of(FIRST, new OffsetAndMetadata(1), SECOND, new OffsetAndMetadata(12))));
            consumer.returnNext(new ConsumerRecords<>(Map.of(), Map.of(FIRST, new OffsetAndMetadata(7))));
        });
        consumer.schedulePollTask(() -> assertThat(sent.get(FIRST)).hasSize(1));
        pollStopsAfterAllIsAcknowledged();

        member.run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
        assertThat(committed.get(FIRST).offset()).isEqualTo(7);
        assertThat(committed.get(SECOND).offset()).isEqualTo(12);
    }

    @Test
    void shouldHelpARebalanceToItsEndThatKeepsAnotherThreadFromCommitting() throws Exception {
        RunningMirror both = mirror(2);
        MockConsumer<byte[], byte[]> idle = new MockConsumer<>("earliest") {
            @Override
            public synchronized ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
                rebalancing.set(false);
                return super.poll(timeout);
            }
        };
        Thread other = new Thread(member(both, idle));
        pollAssigns(FIRST, 5);
        consumer.schedulePollTask(() -> {
            acknowledgeAll(FIRST);
            rebalancing.set(true);
            both.lifecycle().stop();
            other.start();
        });

        member(both, consumer).run();
        other.join();

        assertThat(both.lifecycle().failureOrNull()).isNull();
        assertThat(committed.get(FIRST).offset()).isEqualTo(5);
    }

    @Test
    void shouldNotEndWellWhenItLosesWhatItHasNotCommitted() {
        pollAssigns(FIRST, 5);
        consumer.schedulePollTask(() -> {
            acknowledgeAll(FIRST);
            rebalancing.set(true);
            mirror.lifecycle().stop();
        });
        consumer.schedulePollTask(() -> member.onPartitionsLost(List.of(FIRST)));

        member.run();

        assertThat(mirror.lifecycle().failureOrNull()).hasMessageContaining("Lost [orders-0]");
        assertThat(committed).isEmpty();
    }

    @Test
    void shouldStopTheMirrorAndCommitNothingPastARecordThatFails() {
        pollAssigns(FIRST, 5);
        consumer.schedulePollTask(() -> {
            List<Callback> callbacks = sent.get(FIRST);
            acknowledge(callbacks.get(0));
            acknowledge(callbacks.get(1));
            callbacks.get(2).onCompletion(null, new RecordTooLargeException("too large"));
            acknowledge(callbacks.get(3));
            acknowledge(callbacks.get(4));
        });

        member.run();

        assertThat(mirror.isRunning()).isFalse();
        assertThat(committed.get(FIRST).offset()).isEqualTo(2);
    }

    @Test
    void shouldNotWaitForARecordThatSendRefuses() {
        pollAssigns(FIRST, 1);
        MirrorObserver.Sender refusing = (record, callback) -> {
            throw new KafkaException("closed");
        };

        member(mirror, consumer, ensured::add, refusing).run();

        assertThat(mirror.isRunning()).isFalse();
        assertThat(consumer.closed()).isTrue();
    }

    @Test
    void shouldCommitWhatIsAcknowledgedAfterALaterRecordHasFailed() throws Exception {
        Thread test = Thread.currentThread();
        Thread target = new Thread(() -> {
            while (test.getState() != Thread.State.TIMED_WAITING
                    && !Thread.currentThread().isInterrupted()) {
                Thread.onSpinWait();
            }
            acknowledge(sent.get(FIRST).get(0));
            acknowledge(sent.get(FIRST).get(1));
        });
        consumer.schedulePollTask(() -> {
            consumer.assign(FIRST, SECOND);
            consumer.add(FIRST, 5);
            consumer.add(SECOND, 1);
        });
        consumer.schedulePollTask(() -> {
            acknowledge(sent.get(SECOND).get(0));
            sent.get(FIRST).get(2).onCompletion(null, new RecordTooLargeException("too large"));
            target.start();
        });

        member.run();
        Map<TopicPartition, OffsetAndMetadata> inTheEnd = Map.copyOf(committed);
        target.interrupt();
        target.join();

        assertThat(inTheEnd).containsOnlyKeys(FIRST, SECOND);
        assertThat(inTheEnd.get(FIRST).offset()).isEqualTo(2);
        assertThat(inTheEnd.get(SECOND).offset()).isEqualTo(1);
        assertThat(mirror.lifecycle().failureOrNull()).hasMessageContaining("orders partition 0 offset 2");
    }

    @Test
    void shouldKeepInOrderWhatTheProducerRefusesForNowAndReadNoMoreMeanwhile() {
        List<Long> taken = new ArrayList<>();
        AtomicBoolean isFull = new AtomicBoolean(true);
        MirrorObserver.Sender sender = (record, callback) -> {
            if (isFull.get() && taken.size() == 2) {
                callback.onCompletion(null, new BufferExhaustedException("no memory"));
            } else {
                taken.add(record.timestamp());
                send(record, callback);
            }
        };
        consumer.schedulePollTask(() -> {
            consumer.assign(FIRST, SECOND);
            consumer.add(FIRST, 5);
        });
        consumer.schedulePollTask(() -> {
            assertThat(consumer.paused()).containsExactlyInAnyOrder(FIRST, SECOND);
            assertThat(taken).hasSize(2);
            isFull.set(false);
        });
        consumer.schedulePollTask(() -> {
            assertThat(consumer.paused()).isEmpty();
            acknowledgeAll(FIRST);
            mirror.lifecycle().stop();
        });
        SourceGroupMember member = member(mirror, consumer, ensured::add, sender);

        member.run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
        assertThat(sent.get(FIRST)).hasSize(5);
        assertThat(committed.get(FIRST).offset()).isEqualTo(5);
        assertThat(member.totals().inFlight()).isZero();
    }

    @Test
    void shouldCountTheRecordThatSendRefusesAsNotAcknowledged() {
        pollAssigns(FIRST, 3);
        MirrorObserver.Sender refusing = (record, callback) -> {
            if (record.partition() == 0 && sent.containsKey(FIRST)) {
                throw new KafkaException("closed");
            }
            send(record, callback);
            acknowledge(callback);
        };
        SourceGroupMember member = member(mirror, consumer, ensured::add, refusing);

        member.run();

        assertThat(member.totals().acked()).isEqualTo(1);
        assertThat(member.totals().inFlight()).isEqualTo(1);
        assertThat(committed.get(FIRST).offset()).isEqualTo(1);
    }

    @Test
    void shouldCommitTheOthersWhenATopicHasGoneFromTheSource() {
        consumer.schedulePollTask(() -> {
            consumer.assign(FIRST, DELETED);
            consumer.add(FIRST, 3);
            consumer.add(DELETED, 2);
        });
        consumer.schedulePollTask(() -> {
            acknowledgeAll();
            consumer.delete(DELETED.topic());
            mirror.lifecycle().stop();
        });

        member.run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
        assertThat(committed).containsOnlyKeys(FIRST);
        assertThat(committed.get(FIRST).offset()).isEqualTo(3);
        assertThat(member.totals().inFlight()).isZero();
    }

    @Test
    void shouldNeitherWaitForNorFailWithTheRecordsOfATopicThatHasGoneFromTheSource() {
        List<Long> inFlight = new ArrayList<>();
        consumer.schedulePollTask(() -> {
            consumer.assign(FIRST, DELETED);
            consumer.add(FIRST, 3);
            consumer.add(DELETED, 2);
        });
        consumer.schedulePollTask(() -> {
            consumer.delete(DELETED.topic());
            consumer.rebalance(List.of(FIRST));
            inFlight.add(member.totals().inFlight());
            acknowledgeAll(FIRST);
            acknowledge(sent.get(DELETED).get(0));
            sent.get(DELETED).get(1).onCompletion(null, new RecordTooLargeException("too large"));
        });
        consumer.schedulePollTask(() -> {
            inFlight.add(member.totals().inFlight());
            mirror.lifecycle().stop();
        });

        member.run();

        assertThat(inFlight).containsExactly(5L, 0L);
        assertThat(member.totals().acked()).isEqualTo(4);
        assertThat(mirror.lifecycle().failureOrNull()).isNull();
        assertThat(committed).containsOnlyKeys(FIRST);
    }

    @Test
    void shouldMirrorTheOthersWhenATopicGoesBeforeTheTargetHasIt() {
        Predicate<TopicPartition> ensure = partition -> !partition.equals(DELETED);
        consumer.schedulePollTask(() -> {
            consumer.delete(DELETED.topic());
            consumer.assign(DELETED, FIRST);
            consumer.add(FIRST, 3);
        });
        pollStopsAfterAllIsAcknowledged();

        member(mirror, consumer, ensure, this::send).run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
        assertThat(committed.get(FIRST).offset()).isEqualTo(3);
    }

    @Test
    void shouldNotSendToATargetThatWasNotMadeReadyForATopicThatIsThereAgain() {
        List<Integer> sentBefore = new ArrayList<>();
        Predicate<TopicPartition> ensure = partition -> {
            boolean isThere = consumer.subscription().contains(partition.topic());
            if (isThere) {
                sentBefore.add(sent.size());
            }
            return isThere;
        };
        consumer.schedulePollTask(() -> {
            consumer.delete(DELETED.topic());
            consumer.assign(DELETED);
        });
        consumer.schedulePollTask(() -> {
            consumer.create(DELETED.topic());
            consumer.add(DELETED, 3);
        });
        consumer.schedulePollTask(() -> {
            assertThat(sent).isEmpty();
            target.prepareWanted();
        });
        pollStopsAfterAllIsAcknowledged();

        member(mirror, consumer, ensure, this::send).run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
        assertThat(sentBefore).containsExactly(0);
        assertThat(committed.get(DELETED).offset()).isEqualTo(3);
    }

    @Test
    void shouldCountNothingInFlightOfAPartitionThatItHasLostWhenItEnds() {
        pollAssigns(FIRST, 5);
        consumer.schedulePollTask(() -> {
            member.onPartitionsLost(List.of(FIRST));
            acknowledge(sent.get(FIRST).get(0));
        });
        consumer.schedulePollTask(mirror.lifecycle()::stop);

        member.run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
        assertThat(member.totals().acked()).isEqualTo(1);
        assertThat(member.totals().inFlight()).isZero();
        assertThat(committed).isEmpty();
    }

    @Test
    void shouldEndWellWhenTheSourceIsDownAndAllIsCommitted() {
        pollAssigns(FIRST, 5);
        consumer.schedulePollTask(() -> sent.get(FIRST).forEach(SourceGroupMemberTest::acknowledge));
        consumer.onCommit(
                () -> { // After the commit in the background.
                    consumer.goDown();
                    mirror.lifecycle().stop();
                });

        member.run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
        assertThat(committed.get(FIRST).offset()).isEqualTo(5);
    }

    @Test
    void shouldEndWellWhenItLosesWhatItHasCommitted() {
        pollAssigns(FIRST, 5);
        consumer.schedulePollTask(() -> sent.get(FIRST).forEach(SourceGroupMemberTest::acknowledge));
        consumer.onCommit(() -> {
            mirror.lifecycle().stop();
            member.onPartitionsLost(List.of(FIRST));
        });

        member.run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
    }

    @Test
    void shouldNeedNoPositionOfAPartitionThatItGetsWhileItStops() {
        pollAssigns(FIRST, 5);
        consumer.schedulePollTask(() -> {
            acknowledgeAll(FIRST);
            rebalancing.set(true);
            mirror.lifecycle().stop();
        });
        consumer.schedulePollTask(() -> {
            rebalancing.set(false);
            consumer.setPollException(new NoOffsetForPartitionException(SECOND));
        });

        member.run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
        assertThat(committed.get(FIRST).offset()).isEqualTo(5);
    }

    @Test
    void shouldGoOnWhereTheLogWasTruncatedAndCommitThat() {
        pollAssigns(FIRST, 5);
        consumer.schedulePollTask(() -> {
            acknowledgeAll(FIRST);
            consumer.setPollException(new LogTruncationException(
                    "truncated", Map.of(FIRST, 5L), Map.of(FIRST, new OffsetAndMetadata(3, Optional.of(2), ""))));
        });
        consumer.schedulePollTask(() -> {
            assertThat(consumer.position(FIRST)).isEqualTo(3);
            mirror.lifecycle().stop();
        });

        member.run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
        assertThat(committed.get(FIRST).offset()).isEqualTo(3);
        assertThat(gaps.getTruncations()).isEqualTo(1);
    }

    @Test
    void shouldStopAPartitionWithAGapWhereThatIsThePolicyAndCopyTheOthers() {
        SourceGaps strict = new SourceGaps(GapPolicy.STOP_PARTITION);
        consumer.schedulePollTask(() -> {
            consumer.assign(FIRST, SECOND);
            consumer.add(FIRST, 2);
            consumer.add(SECOND, 2);
        });
        consumer.schedulePollTask(() -> {
            acknowledgeAll(FIRST);
            consumer.updateBeginningOffsets(Map.of(FIRST, 8L));
            consumer.setPollException(new OffsetOutOfRangeException(Map.of(FIRST, 2L)));
        });
        consumer.schedulePollTask(() -> {
            assertThat(consumer.paused()).containsExactly(FIRST);
            acknowledgeAll(SECOND);
            mirror.lifecycle().stop();
        });

        member(mirror, consumer, ensured::add, this::send, strict, "earliest").run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
        assertThat(committed.get(FIRST).offset()).isEqualTo(2);
        assertThat(committed.get(SECOND).offset()).isEqualTo(2);
        assertThat(strict.getPartitionsStopped()).isEqualTo(1);
    }

    private static RunningMirror mirror(int threads) {
        return RunningMirrors.of(
                new MirrorConfig(
                        Pattern.compile("orders"), threads, CopyMode.CONSUMER, ProducerKind.STOCK, Map.of(), Map.of()),
                threads);
    }

    private SourceGroupMember member(
            RunningMirror mirror,
            MockConsumer<byte[], byte[]> consumer,
            Predicate<TopicPartition> ensure,
            MirrorObserver.Sender sender) {
        return member(mirror, consumer, ensure, sender, gaps, "earliest");
    }

    private SourceGroupMember member(
            RunningMirror mirror,
            MockConsumer<byte[], byte[]> consumer,
            Predicate<TopicPartition> ensure,
            MirrorObserver.Sender sender,
            SourceGaps toldOf,
            String reset) {
        target = Targets.prepared(ensure, mirror::fail);
        InFlightMemory memory = new InFlightMemory(1 << 20);
        SourcePositions positions = new SourcePositions(
                consumer,
                new SourceProgress(mirror.commits(), consumer, without -> {}),
                topic -> ResetPolicy.of(reset),
                ResetPolicy.of(reset),
                new TopicIdentities(names -> Map.of()),
                reset.equals("earliest") ? new HashSet<>() : unplacedAtFirstStart); // as at a first start
        PartitionCopier copier = new RecordCopier(
                mirror,
                consumer,
                new ConsumerPositions(consumer, positions, toldOf),
                target,
                memory,
                new MirrorObserver() {},
                sender,
                Optional.empty());
        TargetWatch watch =
                new TargetWatch(stalled -> "", topic -> false, MirrorPolicies.FOREVER, mirror::fail, Stream::of);
        RecordWithdrawal givenUp = new RecordWithdrawal(ProducerKind.STOCK, null, TopicNames.KEPT);
        return new SourceGroupMember(mirror, consumer, positions, target, watch, copier, givenUp);
    }

    private SourceGroupMember member(RunningMirror mirror, MockConsumer<byte[], byte[]> consumer) {
        return member(mirror, consumer, ensured::add, this::send);
    }

    /** For which one waits long at 1 KB/s. */
    private static ConsumerRecord<byte[], byte[]> large(TopicPartition partition, long offset) {
        return new ConsumerRecord<>(
                partition.topic(),
                partition.partition(),
                offset,
                0,
                TimestampType.CREATE_TIME,
                -1,
                100_000,
                null,
                new byte[0],
                new RecordHeaders(),
                Optional.empty());
    }

    private void send(ProducerRecord<byte[], byte[]> record, Callback callback) {
        sent.computeIfAbsent(new TopicPartition(record.topic(), record.partition()), partition -> new ArrayList<>())
                .add(callback);
    }

    /** At the next poll, the partition is assigned and has so many records. */
    private void pollAssigns(TopicPartition partition, int records) {
        consumer.schedulePollTask(() -> {
            consumer.assign(partition);
            consumer.add(partition, records);
        });
    }

    /** At the next poll, all that was sent is acknowledged and the mirror ends. */
    private void pollStopsAfterAllIsAcknowledged() {
        consumer.schedulePollTask(() -> {
            acknowledgeAll();
            mirror.lifecycle().stop();
        });
    }

    private void acknowledgeAll() {
        sent.keySet().forEach(this::acknowledgeAll);
    }

    private void acknowledgeAll(TopicPartition partition) {
        sent.get(partition).forEach(SourceGroupMemberTest::acknowledge);
    }

    private static void acknowledge(Callback callback) {
        callback.onCompletion(null, null);
    }
}
