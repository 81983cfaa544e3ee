package dev.millrace.mirror.resume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.progress.CommitMetadata;
import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import dev.millrace.mirror.progress.SourcePositions;
import dev.millrace.mirror.resume.ExactResume.Search;
import dev.millrace.mirror.resume.ExactResume.Start;
import dev.millrace.mirror.support.FakeSourceConsumer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;

class PartitionStartsTest {
    private static final TopicPartition TP = new TopicPartition("orders", 0);
    private static final TopicPartition OTHER = new TopicPartition("orders", 1);
    private static final ResumePoint COMMITTED = new ResumePoint(77, (short) 3, 500, 40, 90);
    private static final ResumePoint NEW = new ResumePoint(77, (short) 4, 0, 40, 90);

    private final FakeSourceConsumer consumer = new FakeSourceConsumer(new AtomicBoolean(), "orders");
    private final List<Search> searches = new ArrayList<>();
    private final List<String> begun = new ArrayList<>();
    private final Set<TopicPartition> busy = new HashSet<>();
    private final Set<TopicPartition> withNews = new HashSet<>();
    private final PartitionStarts starts = starts(Optional.of(searches::addAll));

    PartitionStartsTest() {
        consumer.subscribe(Set.of("orders"));
        consumer.assign(TP, OTHER);
    }

    @Test
    void shouldBeginEachPartitionAsSoonAsItsOwnAnswerIsThere() {
        starts.add(Map.of(TP, from(40, Optional.of(COMMITTED))));
        starts.add(Map.of(OTHER, from(10, Optional.empty())));
        advance();
        assertThat(searches).extracting(Search::partition).containsExactlyInAnyOrder(TP, OTHER);
        assertThat(begun).isEmpty();

        answer(TP, new Start(at(40), COMMITTED, false));

        assertThat(begun).containsExactly("orders-0 from 40: 77:3:500");
        assertThat(starts.partitions()).containsExactly(OTHER);
        assertThat(starts.waitingForTarget()).containsOnlyKeys(OTHER);
    }

    @Test
    void shouldCommitAPositionThatHasNewsForTheNextStart() {
        withNews.add(TP);
        starts.add(Map.of(TP, from(40, Optional.of(COMMITTED))));
        advance();

        answer(TP, new Start(at(40), COMMITTED, false));

        assertThat(begun).containsExactly("orders-0 from 40: 77:3:500");
        assertThat(consumer.committedOffsets().get(TP).offset()).isEqualTo(40);
    }

    @Test
    void shouldCommitNewEpochsBeforeItBegins() {
        consumer.delete("orders");
        starts.add(Map.of(TP, from(40, Optional.of(COMMITTED))));
        advance();
        answer(TP, new Start(at(40), NEW, true));
        assertThat(begun).as("the commit failed").isEmpty();

        consumer.create("orders");
        advance();
        advance();

        assertThat(begun).containsExactly("orders-0 from 40: 77:4:0");
        OffsetAndMetadata committed = consumer.committedOffsets().get(TP);
        assertThat(committed.offset()).isEqualTo(40);
        assertThat(CommitMetadata.of(committed).resume()).contains(NEW);
    }

    /** It may be long until the next record comes, and by then the target may have forgotten what it has. */
    @Test
    void shouldCommitWhatIsLeftOutBeforeItBegins() {
        starts.add(Map.of(TP, from(40, Optional.of(COMMITTED))));
        advance();
        answer(TP, new Start(at(47), COMMITTED.after(7, 47, 97), false));
        advance();

        assertThat(begun).containsExactly("orders-0 from 47: 77:3:507");
        OffsetAndMetadata committed = consumer.committedOffsets().get(TP);
        assertThat(committed).as("committed").isNotNull();
        assertThat(committed.offset()).isEqualTo(47);
        assertThat(CommitMetadata.of(committed).resume()).contains(COMMITTED.after(7, 47, 97));
    }

    /** Else the next process would find what was committed for the other topic. */
    @Test
    void shouldCommitWhereItGoesOnAfterAnotherTopicHadTheName() {
        SourcePositions.Start reached =
                new SourcePositions.Start(40, Optional.empty(), new Uuid(0, 7), false, Optional.of(COMMITTED), true);
        starts.add(Map.of(TP, reached));
        advance();
        answer(TP, new Start(at(47), COMMITTED.after(7, 47, 97), false));
        advance();

        assertThat(begun).containsExactly("orders-0 from 47: 77:3:507");
        OffsetAndMetadata committed = consumer.committedOffsets().get(TP);
        assertThat(committed.offset()).isEqualTo(47);
        assertThat(CommitMetadata.of(committed).resume()).contains(COMMITTED.after(7, 47, 97));
    }

    @Test
    void shouldAskOnlyWhenTheFormerCopyOfThePartitionHasEnded() {
        busy.add(TP);
        starts.add(Map.of(TP, from(40, Optional.of(COMMITTED))));
        advance();
        assertThat(searches).isEmpty();

        busy.clear();
        advance();
        advance();

        assertThat(searches).hasSize(1);
    }

    @Test
    void shouldNotBeginWhatWasGivenUpOrAddedAgainMeanwhile() {
        starts.add(Map.of(TP, from(40, Optional.of(COMMITTED))));
        advance();
        starts.remove(List.of(TP));
        answer(TP, new Start(at(47), COMMITTED.after(7, 47, 97), false));
        assertThat(begun).isEmpty();

        starts.add(Map.of(TP, from(50, Optional.empty())));
        answer(TP, new Start(at(48), COMMITTED.after(8, 48, 98), false)); // to the first question

        assertThat(begun).isEmpty();
        assertThat(starts.isEmpty()).isFalse();
    }

    @Test
    void shouldBeginAtOnceWithoutSequencesIfNobodyFindsThem() {
        starts(Optional.empty()).add(Map.of(TP, from(40, Optional.of(COMMITTED))));

        assertThat(begun).containsExactly("orders-0 from 40: none");
    }

    private PartitionStarts starts(Optional<PartitionStarts.Finder> finder) {
        return new PartitionStarts(
                consumer,
                finder,
                (partition, position, topicId, resumePoint) ->
                        new CommitMetadata("mark", topicId, resumePoint).addTo(position),
                withNews::contains,
                (partition, from, resumePoint) -> begun.add(partition + " from " + from.offset() + ": "
                        + resumePoint
                                .map(n -> n.producerId() + ":" + n.epoch() + ":" + n.nextSequence())
                                .orElse("none")));
    }

    private void advance() {
        starts.advance(partition -> !busy.contains(partition));
    }

    private void answer(TopicPartition partition, Start start) {
        searches.stream()
                .filter(search -> search.partition().equals(partition))
                .findFirst()
                .orElseThrow()
                .onFound()
                .accept(start);
        advance();
    }

    private static SourcePositions.Start from(long offset, Optional<ResumePoint> resumePoint) {
        return new SourcePositions.Start(offset, Optional.empty(), new Uuid(0, 7), false, resumePoint, false);
    }

    private static OffsetAndMetadata at(long offset) {
        return new OffsetAndMetadata(offset);
    }
}
