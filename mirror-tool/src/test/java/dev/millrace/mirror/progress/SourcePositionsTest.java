package dev.millrace.mirror.progress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.mirror.fetch.ResetPolicy;
import dev.millrace.mirror.progress.SourcePositions.Start;
import dev.millrace.mirror.support.FakeSourceConsumer;
import dev.millrace.testkit.Await;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.NoOffsetForPartitionException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SourcePositionsTest {
    private static final TopicPartition TP = new TopicPartition("orders", 0);
    private static final TopicPartition OTHER = new TopicPartition("orders", 1);
    private static final Uuid ID = new Uuid(0, 7);
    private static final Uuid NEW_ID = new Uuid(0, 8);

    private final FakeSourceConsumer consumer = new FakeSourceConsumer(new AtomicBoolean(), "orders");
    private final Map<String, Uuid> source = new ConcurrentHashMap<>(Map.of("orders", ID));
    private final Set<TopicPartition> unplacedAtFirstStart = new HashSet<>(Set.of(TP, OTHER));
    private boolean isAssigning;
    private boolean hasForgotten;
    private final Set<TopicPartition> unknown = new HashSet<>();
    private final AtomicLong nanos = new AtomicLong(7);
    private final TopicIdentities identities = new TopicIdentities(names -> Map.copyOf(source), nanos::get);

    private final SourcePositions.Committed group = new SourcePositions.Committed() {
        @Override
        public Map<TopicPartition, Optional<OffsetAndMetadata>> of(Set<TopicPartition> partitions) {
            Map<TopicPartition, Optional<OffsetAndMetadata>> known = new HashMap<>();
            Map<TopicPartition, OffsetAndMetadata> committed = hasForgotten ? Map.of() : consumer.committed(partitions);
            partitions.forEach(partition -> known.put(partition, Optional.ofNullable(committed.get(partition))));
            known.keySet().removeAll(unknown);
            return known;
        }

        @Override
        public Set<TopicPartition> commit(Map<TopicPartition, Start> starts) {
            if (isAssigning) {
                return Set.of();
            }
            starts.forEach((partition, start) ->
                    SourcePositionsTest.this.commit(partition, new OffsetAndMetadata(start.offset())));
            return starts.keySet();
        }
    };

    SourcePositionsTest() {
        consumer.subscribe(Set.of("orders"));
        consumer.assign(TP, OTHER);
    }

    @AfterEach
    void close() {
        identities.close();
    }

    @Test
    void shouldBeginWhereTheSameTopicWasCommitted() {
        commit(TP, new OffsetAndMetadata(70, Optional.of(5), metadata(ID)));
        commit(OTHER, new OffsetAndMetadata(9, metadata(Uuid.ZERO_UUID))); // by another program

        assertThat(find("earliest"))
                .containsEntry(TP, new Start(70, Optional.of(5), ID, false))
                .containsEntry(OTHER, new Start(9, Optional.empty(), ID, false));
    }

    @Test
    void shouldNotUseTheProgressInATopicThatWasDeleted() {
        commit(TP, new OffsetAndMetadata(70, Optional.of(5), metadata(ID)));
        source.put("orders", NEW_ID);
        consumer.updateEndOffsets(Map.of(OTHER, 50L));

        assertThat(find("latest")).containsEntry(TP, new Start(0, Optional.empty(), NEW_ID, false));
    }

    @Test
    void shouldBeginAnewWhenTheTopicIsReplacedWhileItIsCopied() {
        SourcePositions positions = positions("earliest");
        Map<TopicPartition, Start> unused = positions.find(List.of(TP), Set.of());
        assertThat(positions.askForReplaced(List.of(TP))).isEmpty();
        source.put("orders", NEW_ID);

        assertThat(positions.askForReplaced(List.of(TP, OTHER))).containsExactly(TP);
        assertThat(positions.beginAnew(List.of(TP), Map.of()))
                .containsEntry(TP, new Start(0, Optional.empty(), NEW_ID, false));
        assertThat(positions.replaced(List.of(TP))).isEmpty();
    }

    @Test
    void shouldNotTakeASilentSourceForAReplacedTopic() {
        SourcePositions positions = positions("earliest");
        Map<TopicPartition, Start> unused = positions.find(List.of(TP), Set.of());

        source.clear(); // deleted, or without a broker that knows it
        assertThat(positions.askForReplaced(List.of(TP))).isEmpty();
        source.put("orders", Uuid.ZERO_UUID); // a broker that knows no ids
        assertThat(positions.askForReplaced(List.of(TP))).isEmpty();
    }

    @Test
    void shouldNoticeThatATopicIsAnotherThanTheCommittedOneWhichWasNotThereAtTheStart() {
        commit(TP, new OffsetAndMetadata(70, Optional.of(5), metadata(ID)));
        source.clear();
        SourcePositions positions = positions("earliest");
        assertThat(positions.find(List.of(TP), Set.of())).containsEntry(TP, new Start(70, Optional.of(5), ID, false));

        source.put("orders", NEW_ID);

        assertThat(positions.askForReplaced(List.of(TP))).containsExactly(TP);
    }

    /** As the fetcher does, which has no other way to have it asked for. */
    @Test
    void shouldAskSoonForATopicThatWasNotThereAtTheStart() {
        commit(TP, new OffsetAndMetadata(70, Optional.of(5), metadata(ID)));
        source.clear();
        SourcePositions positions = positions("earliest");
        Map<TopicPartition, Start> unused = positions.find(List.of(TP), Set.of());
        source.put("orders", NEW_ID);

        identities.askSoon();

        Await.until(
                "it is known to be another",
                Duration.ofSeconds(30),
                () -> positions.replaced(List.of(TP)).equals(Set.of(TP)));
    }

    @Test
    void shouldBelieveAFormerIdAgainWhenItIsNamedForLong() {
        SourcePositions positions = positions("earliest");
        source.put("orders", NEW_ID);
        Map<TopicPartition, Start> unused = positions.find(List.of(TP), Set.of());
        source.put("orders", ID); // by a broker that is cut off
        assertThat(positions.askForReplaced(List.of(TP))).containsExactly(TP);
        Map<TopicPartition, Start> former = positions.beginAnew(List.of(TP), Map.of());
        source.put("orders", NEW_ID);
        assertThat(positions.askForReplaced(List.of(TP))).isEmpty();

        nanos.addAndGet(Duration.ofMinutes(2).toNanos());

        assertThat(positions.askForReplaced(List.of(TP))).containsExactly(TP);
        assertThat(former).containsEntry(TP, new Start(0, Optional.empty(), ID, false));
    }

    @Test
    void shouldGoOnWhereItWasOnceABrokerThatLaggedForLongNamesTheTopicAgain() {
        commit(TP, new OffsetAndMetadata(70, Optional.of(5), metadata(NEW_ID)));
        SourcePositions positions = positions("earliest");
        assertThat(positions.find(List.of(TP), Set.of()))
                .as("the broker that answers lags")
                .containsEntry(TP, new Start(0, Optional.empty(), ID, false));

        source.put("orders", NEW_ID);
        assertThat(positions.askForReplaced(List.of(TP))).containsExactly(TP);
        assertThat(positions.beginAnew(List.of(TP), Map.of())).containsEntry(TP, restored(70, 5));

        source.put("orders", ID);
        nanos.addAndGet(Duration.ofMinutes(2).toNanos());
        assertThat(positions.askForReplaced(List.of(TP))).containsExactly(TP);
        Map<TopicPartition, Start> unused = positions.beginAnew(
                List.of(TP), Map.of(TP, new OffsetAndMetadata(90, Optional.of(6), metadata(NEW_ID))));
        nanos.addAndGet(Duration.ofMinutes(2).toNanos());
        source.put("orders", NEW_ID);
        assertThat(positions.askForReplaced(List.of(TP))).containsExactly(TP);
        assertThat(positions.beginAnew(List.of(TP), Map.of()))
                .as("what was copied meanwhile is known")
                .containsEntry(TP, restored(90, 6));
    }

    @Test
    void shouldKnowAgainWhereItBeganIfNothingWasCopiedSince() {
        commit(TP, new OffsetAndMetadata(70, Optional.of(5), metadata(NEW_ID)));
        source.put("orders", NEW_ID);
        SourcePositions positions = positions("earliest");
        Map<TopicPartition, Start> unused = positions.find(List.of(TP), Set.of());
        source.put("orders", ID);
        assertThat(positions.askForReplaced(List.of(TP))).containsExactly(TP);
        assertThat(positions.beginAnew(List.of(TP), Map.of()))
                .containsEntry(TP, new Start(0, Optional.empty(), ID, false));

        nanos.addAndGet(Duration.ofMinutes(2).toNanos());
        source.put("orders", NEW_ID);

        assertThat(positions.askForReplaced(List.of(TP))).containsExactly(TP);
        assertThat(positions.beginAnew(List.of(TP), Map.of())).containsEntry(TP, restored(70, 5));
    }

    @Test
    void shouldNoticeThatATopicIsReplacedOfWhichTheIdWasUnknownAtTheStart() {
        source.clear();
        SourcePositions positions = positions("earliest");
        Map<TopicPartition, Start> unused = positions.find(List.of(TP), Set.of());

        source.put("orders", ID);
        assertThat(positions.askForReplaced(List.of(TP))).isEmpty();
        source.put("orders", NEW_ID);

        assertThat(positions.askForReplaced(List.of(TP))).containsExactly(TP);
        assertThat(identities.ofMissing("orders"))
                .as("what is committed until then")
                .isEqualTo(ID);
    }

    @Test
    void shouldNotTakeALaggingBrokersAnswerForTheNextTopic() {
        SourcePositions positions = positions("earliest");
        Map<TopicPartition, Start> unused = positions.find(List.of(TP), Set.of());
        source.put("orders", NEW_ID);
        assertThat(positions.askForReplaced(List.of(TP))).containsExactly(TP);
        Map<TopicPartition, Start> anew = positions.beginAnew(List.of(TP), Map.of());

        source.put("orders", ID);

        assertThat(positions.askForReplaced(List.of(TP))).isEmpty();
        assertThat(positions.find(List.of(TP), Set.of()))
                .isEqualTo(Map.of(TP, new Start(0, Optional.empty(), NEW_ID, true)));
        assertThat(anew).containsEntry(TP, new Start(0, Optional.empty(), NEW_ID, false));
    }

    @Test
    void shouldBeginByThePolicyWhereNothingIsCommitted() {
        consumer.updateEndOffsets(Map.of(TP, 40L, OTHER, 50L));

        assertThatThrownBy(() -> find("none")).isInstanceOf(NoOffsetForPartitionException.class);
        assertThat(find("earliest")).containsEntry(TP, new Start(0, Optional.empty(), ID, true));
        assertThat(find("latest")).containsEntry(TP, new Start(40, Optional.empty(), ID, true));

        consumer.updateEndOffsets(Map.of(TP, 60L, OTHER, 60L));
        assertThat(find("latest"))
                .as("when it starts again")
                .containsEntry(TP, new Start(40, Optional.empty(), ID, false));
    }

    /** Otherwise another process could not tell later that the partition was there when the mirror first started. */
    @Test
    void shouldCommitThatAPartitionBeginsWithItsFirstRecordIfOthersDoNot() {
        consumer.updateBeginningOffsets(Map.of(TP, 7L, OTHER, 8L));

        assertThat(positions(ResetPolicy.of("earliest"), unplacedAtFirstStart).find(List.of(TP, OTHER), Set.of()))
                .containsEntry(TP, new Start(7, Optional.empty(), ID, true))
                .containsEntry(OTHER, new Start(8, Optional.empty(), ID, true));
        assertThat(consumer.committedOffsets()).containsOnlyKeys(TP, OTHER);
    }

    @Test
    void shouldBeginWithTheFirstRecordSinceATimeOrAtTheEnd() {
        consumer.updateEndOffsets(Map.of(TP, 40L, OTHER, 50L));
        consumer.setTime(TP, 1_000, 30);

        assertThat(positions(ResetPolicy.since("2026-11-29T08:30:00Z", 1_000), unplacedAtFirstStart)
                        .find(List.of(TP, OTHER), Set.of()))
                .containsEntry(TP, new Start(30, Optional.empty(), ID, true))
                .containsEntry(OTHER, new Start(50, Optional.empty(), ID, true));
    }

    @Test
    void shouldBeginWithTheFirstRecordOfWhatHasAppearedAfterTheFirstStart() {
        consumer.updateEndOffsets(Map.of(TP, 40L, OTHER, 50L));
        unplacedAtFirstStart.remove(OTHER);

        assertThat(find("latest"))
                .containsEntry(TP, new Start(40, Optional.empty(), ID, true))
                .containsEntry(OTHER, new Start(0, Optional.empty(), ID, true));
        assertThatThrownBy(() -> find("none")).isInstanceOf(NoOffsetForPartitionException.class);
    }

    /** Its position goes with it. */
    @Test
    void shouldBeginWithTheFirstRecordOfATopicThatIsCreatedAgainAfterItWasPlaced() {
        consumer.updateEndOffsets(Map.of(TP, 40L, OTHER, 50L));
        SourcePositions positions = positions("latest");
        assertThat(positions.find(List.of(TP), Set.of())).containsEntry(TP, new Start(40, Optional.empty(), ID, true));

        source.put("orders", NEW_ID);
        hasForgotten = true;

        assertThat(positions.find(List.of(TP), Set.of()))
                .containsEntry(TP, new Start(0, Optional.empty(), NEW_ID, true));
    }

    @Test
    void shouldLeaveOutAPartitionWhileItIsNotKnownWhetherItHasAPosition() {
        unknown.add(TP);
        assertThat(find("earliest")).containsOnlyKeys(OTHER);

        unknown.clear();
        assertThat(find("earliest")).containsOnlyKeys(TP, OTHER);
    }

    @Test
    void shouldLeaveOutAPartitionWithoutALeaderAndPlaceTheOthers() {
        consumer.updateEndOffsets(Map.of(TP, 40L, OTHER, 50L));
        consumer.setLed(TP, false);

        assertThat(find("latest")).isEqualTo(Map.of(OTHER, new Start(50, Optional.empty(), ID, true)));
        assertThatThrownBy(() -> find("none")).isInstanceOf(NoOffsetForPartitionException.class);

        consumer.setLed(TP, true);
        assertThat(find("latest"))
                .containsEntry(TP, new Start(40, Optional.empty(), ID, true))
                .containsEntry(OTHER, new Start(50, Optional.empty(), ID, false));
    }

    /** Else the next owner would begin at a later end, if this one does not commit before it leaves. */
    @Test
    void shouldNotBeginAtAnEndThatTheGroupDoesNotTake() {
        consumer.updateEndOffsets(Map.of(TP, 40L, OTHER, 50L));
        isAssigning = true;
        assertThat(find("latest")).isEmpty();

        isAssigning = false;
        assertThat(find("latest")).hasSize(2);
    }

    @Test
    void shouldPlaceNothingWhileTheSourceDoesNotAnswer() {
        commit(TP, new OffsetAndMetadata(70, Optional.of(5), metadata(ID)));
        consumer.goDown();

        assertThat(find("latest")).isEqualTo(Map.of(TP, new Start(70, Optional.of(5), ID, false)));
    }

    private static Start restored(long offset, int leaderEpoch) {
        return new Start(offset, Optional.of(leaderEpoch), NEW_ID, false, Optional.empty(), true);
    }

    private Map<TopicPartition, Start> find(String policy) {
        return positions(policy).find(List.of(TP, OTHER), Set.of());
    }

    private SourcePositions positions(String policy) {
        // As at a first start: nothing is to be placed if all begins with the first record.
        ResetPolicy start = ResetPolicy.of(policy);
        return positions(start, start.isEarliest() ? new HashSet<>() : unplacedAtFirstStart);
    }

    private SourcePositions positions(ResetPolicy policy, Set<TopicPartition> unplaced) {
        return new SourcePositions(consumer, group, topic -> policy, policy, identities, unplaced);
    }

    private void commit(TopicPartition partition, OffsetAndMetadata offset) {
        consumer.commitSync(Map.of(partition, offset));
    }

    private static String metadata(Uuid id) {
        return new CommitMetadata(MirrorGroup.mark("cluster-1"), id, Optional.empty()).toString();
    }
}
