package dev.millrace.client.metadata;

import static dev.millrace.client.metadata.TestTopics.ID;
import static dev.millrace.client.metadata.TestTopics.OTHER_ID;
import static dev.millrace.client.metadata.TestTopics.topic;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TopicImageTest {
    private final TopicImage known = topic("t", ID, new int[] {1, 2, 3}, new int[] {5, 5, 5});

    @Test
    void shouldTakeTheHintWhenItsEpochIsNewer() {
        TopicImage next = known.withLeader(1, 9, 6);

        assertThat(next.leader(1)).isEqualTo(9);
        assertThat(next.leaderEpoch(1)).isEqualTo(6);
        assertThat(next.leader(0)).isEqualTo(1);
        assertThat(next.id()).isEqualTo(ID);
        assertThat(known.leader(1)).as("images do not change").isEqualTo(2);
        assertThat(known.leaderEpoch(1)).isEqualTo(5);
    }

    @Test
    void shouldStayTheSameObjectWhenTheHintIsNoNews() {
        assertThat(known.withLeader(1, 9, 5)).isSameAs(known);
        assertThat(known.withLeader(1, 9, 4)).isSameAs(known);
        assertThat(known.withLeader(1, 9, -1)).isSameAs(known);
    }

    @Test
    void shouldStayTheSameObjectWhenTheHintIsForAPartitionItDoesNotHave() {
        assertThat(known.withLeader(3, 9, 6)).isSameAs(known);
    }

    @Test
    void shouldKeepOlderLeadersWhereTheAnswerIsStale() {
        TopicImage answer = topic("t", ID, new int[] {7, 8, 9}, new int[] {6, 4, 5});

        TopicImage merged = known.withAnswer(answer);

        assertThat(merged.leader(0)).as("newer").isEqualTo(7);
        assertThat(merged.leader(1)).as("stale").isEqualTo(2);
        assertThat(merged.leaderEpoch(1)).isEqualTo(5);
        assertThat(merged.leader(2)).as("of the same epoch: the answer's").isEqualTo(9);
        assertThat(answer.leader(1)).as("images do not change").isEqualTo(8);
    }

    @Test
    void shouldTakeTheAnswerWhenItHasNoEpochs() {
        TopicImage answer = topic("t", ID, new int[] {7, 8, 9}, new int[] {-1, -1, -1});

        assertSame(known.withAnswer(answer), answer);
    }

    @Test
    void shouldTakeTheAnswerWhenTheTopicIsAnotherOneOfThatName() {
        TopicImage answer = topic("t", OTHER_ID, new int[] {7}, new int[] {0});

        assertSame(known.withAnswer(answer), answer);
    }

    @Test
    void shouldMergeWhatBothHaveWhenPartitionsWereAdded() {
        TopicImage answer = topic("t", ID, new int[] {7, 7, 7, 7}, new int[] {4, 6, 6, 0});

        TopicImage merged = known.withAnswer(answer);

        assertThat(merged.partitions()).isEqualTo(4);
        assertThat(merged.leader(0)).isEqualTo(1);
        assertThat(merged.leader(1)).isEqualTo(7);
        assertThat(merged.leader(3)).isEqualTo(7);
    }

    @Test
    void shouldSayThatLeadersAreMissingWhenOneIs() {
        assertThat(known.hasAllLeaders()).isTrue();
        assertThat(topic("t", ID, new int[] {1, TopicImage.NO_LEADER}, new int[] {5, 5})
                        .hasAllLeaders())
                .isFalse();
    }

    @Test
    void shouldStayTheSameObjectWhenTheAnswerIsNoNews() {
        assertThat(known.withAnswer(topic("t", ID, new int[] {1, 2, 3}, new int[] {5, 5, 5})))
                .isSameAs(known);
        TopicImage stale = new TopicImage("t", ID, new int[] {7, 7, 7}, new int[] {4, 4, 4}, known.replicas());
        assertThat(known.withAnswer(stale)).isSameAs(known);
    }

    @Test
    void shouldKeepItsIndexWhateverTheAnswerSays() {
        TopicImage indexed = known.withIndex(7);

        assertThat(indexed.withAnswer(topic("t", ID, new int[] {1}, new int[] {6}))
                        .index())
                .isEqualTo(7);
        assertThat(indexed.withAnswer(topic("t", OTHER_ID, new int[] {1}, new int[] {0}))
                        .index())
                .isEqualTo(7);
        assertThat(indexed.withLeader(0, 9, 6).index()).isEqualTo(7);
    }

    @Test
    void shouldTakeOnlyTheReplicasWhenLeadersAreAsBefore() {
        int[][] moved = {{4}, {5}, {6}};
        TopicImage answer = new TopicImage(
                "t", ID, new int[] {1, 2, 3}, new int[] {5, 5, 5}, new Replicas(moved, moved, new int[3][0]));

        assertSame(known.withAnswer(answer), answer);
    }

    private static void assertSame(TopicImage topic, TopicImage other) {
        assertThat(topic.id()).isEqualTo(other.id());
        assertThat(topic.partitions()).isEqualTo(other.partitions());
        for (int p = 0; p < topic.partitions(); p++) {
            assertThat(topic.leader(p)).isEqualTo(other.leader(p));
            assertThat(topic.leaderEpoch(p)).isEqualTo(other.leaderEpoch(p));
        }
        assertThat(topic.replicas()).isEqualTo(other.replicas());
    }
}
