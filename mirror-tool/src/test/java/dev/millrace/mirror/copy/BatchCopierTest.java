package dev.millrace.mirror.copy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.config.GapPolicy;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.fetch.FakeFetch;
import dev.millrace.mirror.fetch.FetchSink;
import dev.millrace.mirror.fetch.Fetcher;
import dev.millrace.mirror.fetch.ResetPolicy;
import dev.millrace.mirror.pass.BatchMaker;
import dev.millrace.mirror.pass.OpenDecision;
import dev.millrace.mirror.pass.PassMode;
import dev.millrace.mirror.pass.TargetLimits;
import dev.millrace.mirror.progress.CommitMetadata;
import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import dev.millrace.mirror.progress.SourceChanges;
import dev.millrace.mirror.progress.SourceGaps;
import dev.millrace.mirror.progress.SourcePositions;
import dev.millrace.mirror.progress.SourceProgress;
import dev.millrace.mirror.progress.TopicIdentities;
import dev.millrace.mirror.resume.ExactResume;
import dev.millrace.mirror.resume.PartitionStarts;
import dev.millrace.mirror.support.FakePartition;
import dev.millrace.mirror.support.FakeSourceConsumer;
import dev.millrace.mirror.support.RunningMirrors;
import dev.millrace.mirror.support.Targets;
import dev.millrace.mirror.topics.TargetPartitions;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InconsistentTopicIdException;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BatchCopierTest {
    private static final TopicPartition TP = new TopicPartition("orders", 0);
    private static final TopicPartition OTHER = new TopicPartition("orders", 1);
    private static final Uuid ID = new Uuid(0, 7);
    private static final Uuid OTHER_ID = new Uuid(0, 8);
    private static final long TIMEOUT_S = 60;

    private final FakeFetch fetch = new FakeFetch();
    private final FakePartition target = new FakePartition();
    private final FakePartition otherTarget = new FakePartition();
    private final FakeSourceConsumer consumer = new FakeSourceConsumer(new AtomicBoolean(), "orders");
    private final RunningMirror mirror = RunningMirrors.of(
            new MirrorConfig(Pattern.compile("orders"), 3, CopyMode.BATCHES, ProducerKind.MILLRACE, Map.of(), Map.of()),
            1);
    private final TargetPartitions targets = Targets.prepared(partition -> true, mirror::fail);
    private final Map<String, Uuid> sourceIds = new ConcurrentHashMap<>(Map.of("orders", ID));
    private final TopicIdentities identities = new TopicIdentities(names -> Map.copyOf(sourceIds));
    private final SourcePositions positions = new SourcePositions(
            consumer,
            new SourceProgress(mirror.commits(), consumer, without -> {}),
            topic -> ResetPolicy.of("earliest"),
            ResetPolicy.of("earliest"),
            identities,
            new HashSet<>());
    private FetchSink sink;
    private Fetcher fetcher;
    private final BatchCopier copier = copier(Optional.empty());

    BatchCopierTest() {
        consumer.subscribe(Set.of("orders"));
        consumer.assign(TP, OTHER);
        targets.prepare(List.of(TP, OTHER));
    }

    private BatchCopier copier(Optional<PartitionStarts.Finder> resume) {
        return new BatchCopier(
                mirror,
                consumer,
                new SourceChanges(new SourceGaps(GapPolicy.GO_ON), identities),
                targets,
                new InFlightMemory(1 << 20),
                resume,
                Optional.empty(),
                true,
                partition -> new CopyTarget.OpenTarget(
                        partition.equals(TP) ? target : otherTarget,
                        new OpenDecision(PassMode.BATCHES, new TargetLimits(TargetLimits.ANY_CODEC, 1 << 20))),
                given -> {
                    sink = given;
                    fetcher = FakeFetch.fetcher(given);
                    return fetcher;
                });
    }

    @AfterEach
    void close() {
        copier.close();
        identities.close();
    }

    @Test
    void shouldCommitWhatTheTargetHasAcknowledgedOfEachPartition() {
        add(TP, OTHER);
        deliver(TP, 0, 3);
        deliver(OTHER, 0, 2);
        awaitWritten(target, "0-2");
        awaitWritten(otherTarget, "0-1");

        target.acknowledgeAll();
        copier.stopReading(copier.partitions());
        List<TopicPartition> left = copier.await(List.of(TP), deadline());

        assertThat(left).isEmpty();
        assertThat(copier.awaited(copier.partitions())).containsExactly(OTHER);
        assertThat(copier.positions(copier.partitions())).containsOnlyKeys(TP);
        assertThat(copier.positions(Set.of(TP)).get(TP).offset()).isEqualTo(3);
        assertThat(copier.totals().acked()).isEqualTo(3);
        assertThat(copier.totals().inFlight()).isEqualTo(2);
    }

    @Test
    void shouldPollTheGroupLessOftenWhileNothingIsInFlight() {
        add(TP);
        copier.advance();
        Duration idle = copier.pollTimeout();
        deliver(TP, 0, 1);
        awaitWritten(target, "0-0");
        copier.advance();
        Duration busy = copier.pollTimeout();
        target.acknowledgeAll();

        assertThat(busy).isLessThan(idle);
        awaitTrue(
                () -> { // the worker may still be about to end
                    copier.advance();
                    return copier.pollTimeout().equals(idle);
                });
    }

    @Test
    void shouldNeedThePollsOfTheGroupTheLessOftenTheMorePartitionsItCopies() {
        add(TP);
        Duration ofOne = copier.pollPause();
        add(OTHER);

        assertThat(copier.pollPause()).isEqualTo(ofOne.multipliedBy(2)).isLessThan(Duration.ofMillis(1));
    }

    @Test
    void shouldKeepWhatWaitsForItsTurnWithoutSayingThatTheTargetTakesNothing() {
        mirror.controls().throttle(Optional.empty(), 1_000);
        add(TP);
        byte[] minutes = new byte[200_000];
        sink.onFetched(fetch.fetched(
                TP, 0, new BatchMaker(0).record(0, 1, null, minutes).make()));
        awaitWritten(target, "0-0");
        target.acknowledgeAll();
        deliver(TP, 1, 2);
        copier.advance();

        assertThat(copier.waiting()).isEmpty();
        assertThat(target.written()).containsExactly("0-0");
        mirror.controls().throttle(Optional.empty(), 0);
        awaitTrue(() -> {
            copier.advance();
            return target.written().size() == 2;
        });
        assertThat(target.written()).containsExactly("0-0", "1-2");
    }

    @Test
    void shouldLeaveMemoryForTheOthersHoweverMuchIsFetchedAtOnceOfAPartitionThatIsStuck() {
        add(TP, OTHER);
        byte[] large = new byte[100_000];
        List<ByteBuffer> batches = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            batches.add(new BatchMaker(i).record(i, 1, null, large).make());
        }
        sink.onFetched(fetch.fetched(TP, 0, BatchMaker.join(batches)));
        awaitTrue(() -> copier.waiting().containsKey(TP));

        deliver(OTHER, 0, 3);
        awaitWritten(otherTarget, "0-2");
        assertThat(target.written()).hasSizeBetween(1, 3); // half of the half that is divided

        awaitTrue(() -> {
            target.acknowledgeAll();
            copier.advance();
            return copier.positions(Set.of(TP)).get(TP).offset() == 20;
        });
        assertThat(target.written()).hasSize(20);
        assertThat(fetch.isAllReleased()).isTrue();
    }

    @Test
    void shouldNotTakeManySmallRecordsForLargeOnesBecauseTheLastIsLarge() {
        add(TP, OTHER);
        deliver(TP, 0, 1_000);
        sink.onFetched(fetch.fetched(
                TP,
                1_000,
                new BatchMaker(1_000).record(1_000, 1, null, new byte[10_000]).make()));
        awaitWritten(target, "0-999", "1000-1000");
        copier.advance();

        deliver(OTHER, 0, 1);
        deliver(OTHER, 1, 1);

        awaitWritten(otherTarget, "0-0", "1-1");
    }

    @Test
    void shouldCopyNothingThatIsAssignedWhileTheMirrorStops() {
        mirror.lifecycle().stop();

        add(TP);
        deliver(TP, 0, 1);

        assertThat(copier.partitions()).isEmpty();
        assertThat(copier.positions(Set.of(TP))).isEmpty();
        assertThat(fetch.isAllReleased()).isTrue();
    }

    @Test
    void shouldWaitForTheFormerCopyOfAPartitionThatIsAssignedAgainWhileItsWorkerIsBlocked() throws Exception {
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        target.beforeWrite(() -> {
            target.beforeWrite(() -> {});
            blocked.countDown();
            await(goOn);
        });
        add(TP);
        deliver(TP, 0, 3);
        await(blocked);

        copier.giveUp(List.of(TP));
        add(TP, OTHER);
        deliver(TP, 0, 2);
        deliver(OTHER, 0, 1);
        awaitWritten(otherTarget, "0-0"); // another worker, which is not blocked
        assertThat(target.written()).isEmpty();
        goOn.countDown();

        awaitWritten(target, "0-2", "0-1");
    }

    @Test
    void shouldStartAnewWhenTheTopicWasDeletedAndCreatedAgain() {
        add(TP);
        deliver(TP, 0, 5);
        awaitWritten(target, "0-4");
        target.acknowledgeAll();

        replaceTopic();
        deliver(TP, 0, 2);
        awaitWritten(target, "0-4", "0-1");
        target.acknowledgeAll();
        copier.stopReading(List.of(TP));

        assertThat(copier.await(List.of(TP), deadline())).isEmpty();
        OffsetAndMetadata position = copier.positions(Set.of(TP)).get(TP);
        assertThat(position.offset()).isEqualTo(2);
        assertThat(CommitMetadata.of(position).topicId()).isEqualTo(OTHER_ID);
        assertThat(mirror.lifecycle().failureOrNull()).isNull();
    }

    @Test
    void shouldFetchATopicThatWasCreatedAgainFromItsBeginning() {
        consumer.commitSync(Map.of(TP, new OffsetAndMetadata(70)));
        add(TP);

        replaceTopic();
        copier.stopReading(List.of(OTHER)); // returns after what was asked before it is done

        assertThat(fetcher.position(TP)).isEqualTo(OptionalLong.of(0));
    }

    @Test
    void shouldBeginWhereTheGroupHasCommitted() {
        consumer.commitSync(Map.of(TP, new OffsetAndMetadata(70)));

        add(TP, OTHER);
        copier.stopReading(List.of());

        assertThat(fetcher.position(TP)).isEqualTo(OptionalLong.of(70));
        assertThat(fetcher.position(OTHER)).isEqualTo(OptionalLong.of(0));
    }

    @Test
    void shouldFailWhenAPartitionCannotBeReadForGoodAndNotBefore() {
        sink.onFailure(TP, new NotLeaderOrFollowerException("moving"));
        sink.onFailure(null, new TimeoutException("slow"));
        assertThat(mirror.isRunning()).isTrue();

        sink.onFailure(TP, new TopicAuthorizationException("not allowed"));

        assertThat(mirror.lifecycle().failureOrNull()).hasMessageContaining("Could not read orders-0");
    }

    @Test
    void shouldFailWithThePartitionAndOffsetOfABatchThatCannotBeWritten() {
        add(TP);
        deliver(TP, 0, 3);
        deliver(TP, 3, 1);
        awaitWritten(target, "0-2", "3-3");
        target.result(0).acknowledge();
        target.result(1).fail(new TimeoutException("expired"));

        copier.advance();

        assertThat(mirror.lifecycle().failureOrNull())
                .hasMessageContaining("orders partition 0 offset 3 or a later one");
        assertThat(copier.positions(Set.of(TP)).get(TP).offset()).isEqualTo(3);
    }

    @Test
    void shouldCountTheFailureOfAPartitionThatWasGivenUpAsDroppedOnly() {
        add(TP);
        deliver(TP, 0, 3);
        awaitWritten(target, "0-2");
        copier.stopReading(List.of(TP));
        copier.giveUp(List.of(TP));

        target.result(0).fail(new TimeoutException("expired"));
        awaitTrue(() -> {
            copier.advance();
            return copier.totals().inFlight() == 0;
        });

        assertThat(mirror.lifecycle().failureOrNull()).isNull();
        assertThat(copier.totals().acked()).isZero();
    }

    /** What the fetcher tells, and what the member's thread does then. */
    private void replaceTopic() {
        sourceIds.put("orders", OTHER_ID);
        sink.onFailure(TP, new InconsistentTopicIdException("another id"));
        awaitTrue(() -> !positions.replaced(List.of(TP)).isEmpty());
        copier.giveUp(List.of(TP));
        copier.add(positions.beginAnew(List.of(TP), Map.of()));
    }

    private void add(TopicPartition... partitions) {
        add(copier, partitions);
    }

    private void add(BatchCopier to, TopicPartition... partitions) {
        to.add(positions.find(List.of(partitions), Set.of()));
    }

    @Test
    void shouldAskAgainWhereToGoOnWhenTheTargetExpectsOtherSequences() {
        List<ExactResume.Search> searches = new ArrayList<>();
        BatchCopier exact = copier(Optional.of(searches::addAll));
        add(exact, TP);
        ResumePoint first = new ResumePoint(77, (short) 3, 500, 0, 90);
        searches.get(0).onFound().accept(new ExactResume.Start(new OffsetAndMetadata(0), first, false));
        exact.advance();
        deliver(TP, 0, 3);
        deliver(TP, 3, 2);
        awaitWritten(target, "77:3:500", "0-2", "3-4");
        target.result(0).acknowledge();
        target.result(1).fail(new OutOfOrderSequenceException("another writes"));

        awaitTrue(() -> {
            exact.advance();
            return searches.size() == 2;
        });

        assertThat(searches.get(1).from().offset()).isEqualTo(3);
        assertThat(searches.get(1).committed()).contains(new ResumePoint(77, (short) 3, 503, 3, -1));
        searches.get(1)
                .onFound()
                .accept(new ExactResume.Start(
                        new OffsetAndMetadata(4), new ResumePoint(77, (short) 3, 504, 4, 94), false));
        exact.advance();
        deliver(TP, 4, 1);
        awaitWritten(target, "77:3:500", "0-2", "3-4", "77:3:504", "4-4");
        assertThat(mirror.lifecycle().failureOrNull()).isNull();
        exact.close();
    }

    @Test
    void shouldNotBeginWhatIsRevokedBeforeItIsKnownWhere() {
        List<ExactResume.Search> searches = new ArrayList<>();
        BatchCopier exact = copier(Optional.of(searches::addAll));
        add(exact, TP);
        exact.stopReading(Set.of(TP));
        searches.get(0)
                .onFound()
                .accept(new ExactResume.Start(
                        new OffsetAndMetadata(0), new ResumePoint(77, (short) 3, 500, 0, 90), false));

        exact.advance();

        assertThat(exact.partitions()).isEmpty();
        exact.close();
    }

    @Test
    void shouldCommitTheSequencesOfWhatFollowsThePosition() {
        List<ExactResume.Search> searches = new ArrayList<>();
        BatchCopier exact = copier(Optional.of(searches::addAll));
        add(exact, TP);
        searches.get(0)
                .onFound()
                .accept(new ExactResume.Start(
                        new OffsetAndMetadata(40), new ResumePoint(77, (short) 3, Integer.MAX_VALUE, 40, 90), false));
        exact.advance();
        deliver(TP, 40, 3);
        awaitWritten(target, "77:3:" + Integer.MAX_VALUE, "40-42");
        target.acknowledgeAll();
        exact.stopReading(Set.of(TP));
        assertThat(exact.await(List.of(TP), deadline())).isEmpty();

        OffsetAndMetadata position = exact.positions(Set.of(TP)).get(TP);

        assertThat(position.offset()).isEqualTo(43);
        assertThat(CommitMetadata.of(position).resume()).contains(new ResumePoint(77, (short) 3, 2, 43, -1));
        exact.close();
    }

    /** Delivers to the copier that was created last. */
    private void deliver(TopicPartition partition, long offset, int records) {
        sink.onFetched(fetch.fetched(
                partition, offset, new BatchMaker(offset).records(records).make()));
    }

    private static void awaitWritten(FakePartition partition, String... expected) {
        awaitTrue(() -> partition.written().size() >= expected.length);
        assertThat(partition.written()).containsExactly(expected);
    }

    private static void awaitTrue(java.util.function.BooleanSupplier condition) {
        long deadline = deadline();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(TIMEOUT_S, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static long deadline() {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_S);
    }
}
