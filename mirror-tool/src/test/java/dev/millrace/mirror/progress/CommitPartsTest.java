package dev.millrace.mirror.progress;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;

class CommitPartsTest {
    @Test
    void shouldHaveNoPartOfNothing() {
        assertThat(CommitParts.of(Map.of())).isEmpty();
    }

    @Test
    void shouldLeaveWhatOneCommitTakesInOne() {
        assertThat(CommitParts.of(positions(CommitParts.MAX_POSITIONS)))
                .containsExactly(positions(CommitParts.MAX_POSITIONS));
    }

    @Test
    void shouldHaveEachPositionOnceInPartsThatACommitTakes() {
        Map<TopicPartition, OffsetAndMetadata> all = new HashMap<>();
        int sum = 0;
        for (Map<TopicPartition, OffsetAndMetadata> part : CommitParts.of(positions(2_500))) {
            assertThat(part).hasSizeLessThanOrEqualTo(CommitParts.MAX_POSITIONS);
            sum += part.size();
            all.putAll(part);
        }

        assertThat(all).isEqualTo(positions(2_500));
        assertThat(sum).isEqualTo(2_500);
    }

    @Test
    void shouldTellWhatIsCommittedAndGoOnAfterAPartThatCameWhileTheGroupAssigned() {
        List<TopicPartition> taken = new ArrayList<>();
        Iterator<RuntimeException> refusals = List.<RuntimeException>of(
                        new CommitFailedException(), new RebalanceInProgressException())
                .iterator();

        Set<TopicPartition> committed = CommitParts.commit(positions(3 * CommitParts.MAX_POSITIONS), part -> {
            if (refusals.hasNext()) {
                throw refusals.next();
            }
            taken.addAll(part.keySet());
        });

        assertThat(committed).hasSize(CommitParts.MAX_POSITIONS).containsExactlyInAnyOrderElementsOf(taken);
    }

    @Test
    void shouldWaitForOnePartOnlyWhenTheGroupDoesNotAnswer() {
        List<TopicPartition> tried = new ArrayList<>();

        Set<TopicPartition> committed = CommitParts.commit(positions(3 * CommitParts.MAX_POSITIONS), part -> {
            tried.addAll(part.keySet());
            throw new TimeoutException();
        });

        assertThat(committed).isEmpty();
        assertThat(tried).hasSize(CommitParts.MAX_POSITIONS);
    }

    private static Map<TopicPartition, OffsetAndMetadata> positions(int count) {
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        for (int p = 0; p < count; p++) {
            positions.put(new TopicPartition("t", p), new OffsetAndMetadata(10L * p));
        }
        return positions;
    }
}
