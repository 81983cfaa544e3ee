package dev.millrace.mirror.member;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.config.GapPolicy;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.MirrorPolicies;
import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.copy.BatchCopier;
import dev.millrace.mirror.copy.CopyTarget;
import dev.millrace.mirror.copy.InFlightMemory;
import dev.millrace.mirror.copy.RunningMirror;
import dev.millrace.mirror.fetch.FakeFetch;
import dev.millrace.mirror.fetch.FetchSink;
import dev.millrace.mirror.fetch.Fetcher;
import dev.millrace.mirror.fetch.ResetPolicy;
import dev.millrace.mirror.pass.BatchMaker;
import dev.millrace.mirror.pass.OpenDecision;
import dev.millrace.mirror.pass.PassMode;
import dev.millrace.mirror.pass.TargetLimits;
import dev.millrace.mirror.progress.CommitMetadata;
import dev.millrace.mirror.progress.MirrorGroup;
import dev.millrace.mirror.progress.SourceChanges;
import dev.millrace.mirror.progress.SourceGaps;
import dev.millrace.mirror.progress.SourcePositions;
import dev.millrace.mirror.progress.TargetProgress;
import dev.millrace.mirror.progress.TopicIdentities;
import dev.millrace.mirror.support.FakePartition;
import dev.millrace.mirror.support.FakeSourceConsumer;
import dev.millrace.mirror.support.RunningMirrors;
import dev.millrace.mirror.support.Targets;
import dev.millrace.mirror.topics.RefusedTopics;
import dev.millrace.mirror.topics.SubscribedTopics;
import dev.millrace.mirror.topics.TargetPartitions;
import dev.millrace.mirror.topics.TargetWatch;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A member with a scripted group and scripted transactions, run in the thread of the test. */
@Timeout(60)
class TargetGroupMemberTest {
    private static final TopicPartition TP = new TopicPartition("orders", 0);
    private static final TopicPartition OTHER = new TopicPartition("orders", 1);
    private static final MirrorConfig CONFIG = new MirrorConfig(
            Pattern.compile("orders"),
            TopicNames.of("eu.", Map.of()),
            1,
            CopyMode.BATCHES,
            ProducerKind.MILLRACE,
            Map.of(),
            Map.of(),
            MirrorPolicies.DEFAULT);

    /** On the target, by the partitions there. */
    private final Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>();

    private final List<TransactionalProducer> producers = new ArrayList<>();
    private final Map<Producer<?, ?>, FakePartition> written = new ConcurrentHashMap<>();
    private final FakeFetch fetch = new FakeFetch();
    private FetchSink sink;
    private Fetcher fetcher;
    private final RunningMirror mirror = RunningMirrors.of(CONFIG, 1);
    private final ScriptedGroup group = new ScriptedGroup();
    private final FakeSourceConsumer source = new FakeSourceConsumer(new AtomicBoolean(), "orders");
    private final TargetPartitions targets = Targets.prepared(partition -> true, mirror::fail);
    private final TopicIdentities identities = new TopicIdentities(names -> Map.of("orders", new Uuid(0, 7)));
    private final Set<TopicPartition> unplacedAtFirstStart = new HashSet<>(Set.of(TP, OTHER));
    private boolean acknowledges = true;
    private final Map<TopicPartition, Long> endsOnTarget = new HashMap<>(Map.of(TP, 1L, OTHER, 1L));
    private long now;
    private final TargetTransactions transactions =
            new TargetTransactions("mirror", this::createProducer, this::createTarget, () -> now++);
    private final BatchCopier copier = new BatchCopier(
            mirror,
            group,
            new SourceChanges(new SourceGaps(GapPolicy.GO_ON), identities),
            targets,
            new InFlightMemory(1 << 20),
            Optional.empty(),
            Optional.empty(),
            true,
            transactions,
            given -> {
                sink = given;
                fetcher = FakeFetch.fetcher(given);
                return fetcher;
            });
    private final TargetGroupMember member = member("earliest");

    @AfterEach
    void close() {
        identities.close();
    }

    @Test
    void shouldBeginWhereTheGroupOnTheTargetIsAndCommitWhatItWritesWithThePositions() {
        committed.put(onTarget(TP), new OffsetAndMetadata(70));
        group.then(() -> group.rebalance(List.of(onTarget(TP))));
        group.when(() -> isAt(TP, 70), () -> deliver(TP, 70, 3));
        group.when(() -> isCommitted(TP, 73), mirror.lifecycle()::stop);

        member.run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
        assertThat(written(0)).containsExactly("70-72");
        assertThat(producers).hasSize(1);
        assertThat(member.totals().acked()).isEqualTo(3);
    }

    /** Its topic may have been deleted there, and then all is to be copied anew. */
    @Test
    void shouldNotBeginWithACopyOfWhichNoLeaderTellsWhereItEnds() {
        endsOnTarget.remove(OTHER);
        source.subscribe(Set.of("orders"));
        source.assign(TP, OTHER); // or the mock would tell nothing of them
        String mark = new CommitMetadata(MirrorGroup.mark(""), Uuid.ZERO_UUID, Optional.empty())
                .withNames("orders", "eu.orders")
                .toString();
        source.commitSync(Map.of(TP, new OffsetAndMetadata(40, mark), OTHER, new OffsetAndMetadata(70, mark)));
        group.then(() -> group.rebalance(List.of(onTarget(TP), onTarget(OTHER))));
        group.when(() -> isAt(TP, 40), () -> {
            assertThat(fetcher.position(OTHER)).isEmpty();
            endsOnTarget.put(OTHER, 0L);
        });
        group.when(() -> isAt(OTHER, 0), mirror.lifecycle()::stop);

        member("earliest").run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
    }

    @Test
    void shouldGoOnWhereTheGroupOnTheSourceIsWhenThatOnTheTargetHasNothing() {
        source.subscribe(Set.of("orders"));
        source.assign(TP); // or the mock would tell nothing of it
        source.commitSync(Map.of(TP, new OffsetAndMetadata(40)));
        committed.put(onTarget(OTHER), new OffsetAndMetadata(7));
        group.then(() -> group.rebalance(List.of(onTarget(TP), onTarget(OTHER))));
        group.when(() -> isAt(TP, 40) && isAt(OTHER, 7), mirror.lifecycle()::stop);

        member.run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
    }

    @Test
    void shouldCopyTheOthersUntilAPartitionHasALeaderThatTellsItsEnd() {
        source.subscribe(Set.of("orders"));
        source.assign(TP, OTHER); // or the mock would tell nothing of them
        source.updateEndOffsets(Map.of(TP, 30L, OTHER, 50L));
        source.setLed(OTHER, false);
        group.then(() -> group.rebalance(List.of(onTarget(TP), onTarget(OTHER))));
        group.when(() -> isAt(TP, 30), () -> {
            assertThat(fetcher.position(OTHER)).isEmpty();
            source.setLed(OTHER, true);
        });
        group.when(() -> isAt(OTHER, 50), mirror.lifecycle()::stop);

        member("latest").run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
    }

    @Test
    void shouldBeginOnceTheTransactionOfTheFormerOwnerIsDecided() {
        group.isUndecided = true;
        group.then(() -> group.rebalance(List.of(onTarget(TP))));
        group.when(() -> group.asked >= 2, () -> {
            assertThat(fetcher.position(TP)).isEmpty();
            committed.put(onTarget(TP), new OffsetAndMetadata(9)); // by the former owner
            group.isUndecided = false;
        });
        group.when(() -> isAt(TP, 9), mirror.lifecycle()::stop);

        member.run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
    }

    @Test
    void shouldEndTheOpenTransactionBeforeItGivesAPartitionUp() {
        Map<TopicPartition, OffsetAndMetadata> atRevocation = new HashMap<>();
        beginBothAndWriteOf(TP);
        group.when(() -> written(0).contains("0-2"), () -> {
            group.rebalance(List.of(onTarget(OTHER)));
            atRevocation.putAll(committed);
            mirror.lifecycle().stop();
        });

        member.run();

        assertThat(atRevocation).containsOnlyKeys(onTarget(TP));
        assertThat(atRevocation.get(onTarget(TP)).offset()).isEqualTo(3);
        assertThat(mirror.lifecycle().failureOrNull()).isNull();
    }

    /** Else the last commit would have the partition's records without its position. */
    @Test
    void shouldEndTheOpenTransactionBeforeItGivesAPartitionUpWhileTheMirrorStops() {
        beginBothAndWriteOf(TP);
        group.when(() -> written(0).contains("0-2"), () -> {
            mirror.lifecycle().stop();
            group.rebalance(List.of(onTarget(OTHER)));
            assertThat(isCommitted(TP, 3)).isTrue();
        });

        member.run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
    }

    @Test
    void shouldWaitForACommitThatIsSlowBeforeItGivesAPartitionUp() {
        AtomicInteger attempts = new AtomicInteger();
        producers.get(0).beforeCommit(() -> {
            if (attempts.incrementAndGet() < 3) {
                throw new TimeoutException("slow");
            }
        });
        beginBothAndWriteOf(TP);
        group.when(() -> written(0).contains("0-2"), () -> {
            group.rebalance(List.of(onTarget(OTHER)));
            assertThat(isCommitted(TP, 3)).isTrue();
            mirror.lifecycle().stop();
        });

        member.run();

        assertThat(attempts).hasValue(3);
        assertThat(mirror.lifecycle().failureOrNull()).isNull();
    }

    @Test
    void shouldGiveAPartitionUpAndStartTheOthersAnewWhenItIsFencedAmidARebalance() {
        beginBothAndWriteOf(TP);
        group.when(() -> written(0).contains("0-2"), () -> {
            producers.get(0).fenceProducer();
            group.rebalance(List.of(onTarget(OTHER)));
            assertThat(copier.partitions()).isEmpty();
        });
        group.when(() -> isAt(OTHER, 0), mirror.lifecycle()::stop);

        member.run();

        assertThat(producers).hasSize(2);
        assertThat(committed).isEmpty();
        assertThat(fetcher.position(TP)).isEmpty();
        assertThat(mirror.lifecycle().failureOrNull()).isNull();
    }

    @Test
    void shouldCommitNothingOfWhatItHadWrittenWhenItWasAway() {
        beginBothAndWriteOf(TP);
        group.when(() -> written(0).contains("0-2"), () -> {
            member.onPartitionsLost(List.of(TP, OTHER));
            mirror.lifecycle().stop();
        });

        member.run();

        assertThat(producers.get(0).closed()).isTrue();
        assertThat(producers.get(0).commitCount()).isZero();
        assertThat(committed).isEmpty();
        assertThat(copier.partitions()).isEmpty();
        assertThat(mirror.lifecycle().failureOrNull()).isNull();
    }

    @Test
    void shouldWriteAgainWhatWasInATransactionThatWasFenced() {
        producers.get(0).beforeCommit(() -> {
            throw new ProducerFencedException("another has begun");
        });
        beginBothAndWriteOf(TP);
        group.when(() -> producers.size() == 2 && isAt(TP, 0), () -> deliver(TP, 0, 3));
        group.when(() -> isCommitted(TP, 3), mirror.lifecycle()::stop);

        member.run();

        assertThat(producers.get(0).closed()).isTrue();
        assertThat(written(1)).containsExactly("0-2");
        assertThat(mirror.lifecycle().failureOrNull()).isNull();
    }

    @Test
    void shouldNotWriteAgainWhatACommitOfUnknownOutcomeHasCommitted() {
        producers.get(0).afterCommit(() -> {
            throw new InvalidProducerEpochException("who knows");
        });
        beginBothAndWriteOf(TP);
        group.when(() -> producers.size() == 2 && isAt(TP, 3), mirror.lifecycle()::stop);

        member.run();

        assertThat(written(1)).isEmpty();
        assertThat(mirror.lifecycle().failureOrNull()).isNull();
    }

    @Test
    void shouldCommitNothingWhileItIsNoMemberOfTheGroup() {
        group.generation = -1;
        beginBothAndWriteOf(TP);
        group.when(() -> producers.size() == 2, () -> group.generation = 5);
        group.when(() -> isAt(TP, 0), () -> deliver(TP, 0, 3));
        group.when(() -> isCommitted(TP, 3), mirror.lifecycle()::stop);

        member.run();

        assertThat(producers.get(0).commitCount()).isZero();
        assertThat(producers.get(0).sentOffsets()).isFalse();
        assertThat(mirror.lifecycle().failureOrNull()).isNull();
    }

    @Test
    void shouldFailWhenTheTargetDoesNotAllowTransactions() {
        producers.get(0).beforeCommit(() -> {
            throw new TransactionalIdAuthorizationException("not allowed");
        });
        beginBothAndWriteOf(TP);

        member.run();

        assertThat(mirror.lifecycle().failureOrNull())
                .hasMessage("The target refuses a transaction of the mirror: not allowed");
        assertThat(committed).isEmpty();
    }

    @Test
    void shouldCommitAtItsEndWhatItHasWritten() {
        beginBothAndWriteOf(TP);
        group.when(() -> written(0).contains("0-2"), mirror.lifecycle()::stop);

        member.run();

        assertThat(isCommitted(TP, 3)).isTrue();
        assertThat(mirror.lifecycle().failureOrNull()).isNull();
        assertThat(group.closed()).isTrue();
    }

    @Test
    void shouldEndWellWhenTheGroupHasGoneOnBeforeTheLastCommit() {
        beginBothAndWriteOf(TP);
        group.when(() -> written(0).contains("0-2"), () -> {
            producers.get(0).sendOffsetsToTransactionException = new CommitFailedException("another generation");
            mirror.lifecycle().stop();
        });

        member.run();

        assertThat(committed).isEmpty();
        assertThat(mirror.lifecycle().failureOrNull()).isNull();
    }

    @Test
    void shouldFailWhenTheLastTransactionIsAborted() {
        beginBothAndWriteOf(TP);
        group.when(() -> written(0).contains("0-2"), () -> {
            producers.get(0).fenceProducer();
            mirror.lifecycle().stop();
        });

        member.run();

        assertThat(committed).isEmpty();
        assertThat(mirror.lifecycle().failureOrNull()).hasMessageStartingWith("The last transaction is aborted");
    }

    @Test
    void shouldGoOnWithATransactionForAsLongAsTheTargetTakesSomethingOfIt() {
        acknowledges = false;
        beginBothAndWriteOf(TP);
        group.when(() -> written(0).size() == 1, () -> deliver(OTHER, 0, 3));
        for (int i = 1; i < 4; i++) {
            int batch = i;
            group.when(() -> written(0).size() == batch + 1, () -> deliver(TP, 3L * batch, 3));
        }
        for (int i = 0; i < 5; i++) {
            int batch = i;
            group.when(() -> written(0).size() == 5 && isEnding(), () -> {
                now += TimeUnit.SECONDS.toNanos(4);
                written.get(producers.get(0)).result(batch).acknowledge();
            });
        }
        group.when(() -> isCommitted(TP, 12) && isCommitted(OTHER, 3), mirror.lifecycle()::stop);

        member.run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
        assertThat(producers).as("one transaction, not aborted").hasSize(1);
    }

    @Test
    void shouldGoOnWithoutAPartitionOfWhichTheTargetTakesNothingAtAll() {
        acknowledges = false;
        beginBothAndWriteOf(TP);
        group.when(() -> written(0).size() == 1, () -> deliver(OTHER, 0, 3));
        group.when(
                () -> written(0).size() == 2,
                () -> written.get(producers.get(0)).result(1).acknowledge());
        group.when(this::isEnding, () -> now += TimeUnit.SECONDS.toNanos(6));
        group.when(() -> producers.size() == 2 && isAt(OTHER, 0), () -> {
            acknowledges = true;
            assertThat(fetcher.position(TP)).isEmpty();
            deliver(OTHER, 0, 3);
        });
        group.when(() -> isCommitted(OTHER, 3), mirror.lifecycle()::stop);

        member.run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
        assertThat(committed).containsOnlyKeys(onTarget(OTHER));
    }

    @Test
    @Timeout(20)
    void shouldCommitWhatIsWrittenWhileAWorkerFindsNoMemoryAndWriteTheRestOnceThereIsSome() {
        AtomicInteger writes = new AtomicInteger();
        AtomicBoolean isFull = new AtomicBoolean(true);
        committed.put(onTarget(TP), new OffsetAndMetadata(1)); // within a batch, so its records are appended
        written.get(producers.get(0)).beforeWrite(() -> {
            if (writes.incrementAndGet() > 2 && isFull.get()) {
                LockSupport.parkNanos(1_000_000);
                throw new BufferExhaustedException("no memory");
            }
        });
        group.then(() -> group.rebalance(List.of(onTarget(TP))));
        group.when(
                () -> isAt(TP, 1),
                () -> sink.onFetched(
                        fetch.fetched(TP, 1, new BatchMaker(0).records(5).make())));
        group.when(() -> isCommitted(TP, 3), () -> isFull.set(false));
        group.when(() -> isCommitted(TP, 5), mirror.lifecycle()::stop);

        member.run();

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
        assertThat(written(0)).containsExactly("key-1", "key-2", "key-3", "key-4");
        assertThat(producers).hasSize(1);
    }

    private boolean isEnding() {
        return transactions.stalledNanos(copier.totals().acked()) > 0;
    }

    private void beginBothAndWriteOf(TopicPartition partition) {
        group.then(() -> group.rebalance(List.of(onTarget(TP), onTarget(OTHER))));
        group.when(() -> isAt(TP, 0) && isAt(OTHER, 0), () -> deliver(partition, 0, 3));
    }

    private static TopicPartition onTarget(TopicPartition partition) {
        return CONFIG.names().onTarget(partition);
    }

    private boolean isAt(TopicPartition partition, long offset) {
        return fetcher.position(partition).equals(OptionalLong.of(offset));
    }

    private boolean isCommitted(TopicPartition partition, long offset) {
        return committed.containsKey(onTarget(partition))
                && committed.get(onTarget(partition)).offset() == offset;
    }

    private List<String> written(int producer) {
        return written.get(producers.get(producer)).written();
    }

    private void deliver(TopicPartition partition, long offset, int records) {
        sink.onFetched(fetch.fetched(
                partition, offset, new BatchMaker(offset).records(records).make()));
    }

    private Map<TopicPartition, Long> endsOnTarget(Set<TopicPartition> partitions) {
        Map<TopicPartition, Long> known = new HashMap<>(endsOnTarget);
        known.keySet().retainAll(partitions);
        return known;
    }

    private TargetGroupMember member(String reset) {
        SubscribedTopics topics = new SubscribedTopics(
                () -> Map.of("orders", 2),
                new ReadyTarget(),
                new RefusedTopics(null),
                mirror::fail,
                Duration.ofSeconds(30));
        topics.refreshIfDue(0);
        ResetPolicy policy = ResetPolicy.of(reset);
        // As at a first start: nothing is to be placed if all begins with the first record.
        Set<TopicPartition> unplaced = policy.isEarliest() ? new HashSet<>() : unplacedAtFirstStart;
        TargetProgress progress = new TargetProgress(mirror.commits(), group, source, this::endsOnTarget);
        TargetWatch watch =
                new TargetWatch(unused -> "", topic -> false, MirrorPolicies.FOREVER, mirror::fail, Stream::of);
        return new TargetGroupMember(
                mirror,
                new TargetGroupMember.Consumers(group, source),
                new TargetGroupMember.Target(topics, targets, watch),
                progress,
                new SourcePositions(source, progress, topic -> policy, policy, identities, unplaced),
                transactions,
                copier);
    }

    private TransactionalProducer createProducer(String id) {
        TransactionalProducer producer = new TransactionalProducer(id, committed);
        FakePartition partition = new FakePartition();
        producer.beforeCommit(() -> {
            if (!partition.isAcknowledged()) {
                throw new TimeoutException("records are in flight");
            }
        });
        producers.add(producer);
        written.put(producer, partition);
        return producer;
    }

    private CopyTarget createTarget(Producer<byte[], byte[]> producer) {
        return unused -> new CopyTarget.OpenTarget(
                written.get(producer),
                new OpenDecision(PassMode.BATCHES, new TargetLimits(TargetLimits.ANY_CODEC, 1 << 20)));
    }

    private static final class ReadyTarget implements TargetPartitions.Preparation {
        @Override
        public boolean ensure(TopicPartition partition) {
            return true;
        }

        @Override
        public void forget(String topic) {}

        @Override
        public Map<String, Uuid> askForIds(Collection<String> topics) {
            return Map.of();
        }
    }

    /** The group on the target: what happens in its polls is scripted, and its offsets are those of the transactions. */
    private final class ScriptedGroup extends MockConsumer<byte[], byte[]> {
        private final Queue<Step> steps = new ArrayDeque<>();
        private boolean isUndecided;
        private int generation = 1;
        private int asked;

        private record Step(BooleanSupplier condition, Runnable action) {}

        ScriptedGroup() {
            super("earliest");
        }

        /** Does this in the next poll after the former steps. */
        void then(Runnable action) {
            when(() -> true, action);
        }

        /** Does this in the first poll after the former steps in which the condition holds. */
        void when(BooleanSupplier condition, Runnable action) {
            steps.add(new Step(condition, action));
        }

        @Override
        public synchronized ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
            boolean isStepDue = !steps.isEmpty() && steps.element().condition().getAsBoolean();
            if (acknowledges) {
                written.values().forEach(FakePartition::acknowledgeAll);
            }
            if (isStepDue) {
                steps.remove().action().run();
            }
            return super.poll(timeout);
        }

        @Override
        public synchronized Map<TopicPartition, OffsetAndMetadata> committed(
                Set<TopicPartition> partitions, Duration timeout) {
            asked++;
            if (isUndecided) {
                throw new TimeoutException("a transaction is pending");
            }
            return partitions.stream()
                    .filter(committed::containsKey)
                    .collect(Collectors.toMap(partition -> partition, committed::get));
        }

        @Override
        @SuppressWarnings("removal") // there is no other way to make one
        public ConsumerGroupMetadata groupMetadata() {
            return new ConsumerGroupMetadata("mirror", generation, "member", Optional.empty());
        }
    }
}
