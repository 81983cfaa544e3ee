package dev.millrace.mirror.progress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;

class OffsetCommitsTest {
    private static final TopicPartition HERE = new TopicPartition("orders", 0);
    private static final TopicPartition NO_MORE = new TopicPartition("orders", 1);
    private static final OffsetAndMetadata FIVE = new OffsetAndMetadata(5);

    private final List<Map<TopicPartition, OffsetAndMetadata>> requests = new ArrayList<>();
    private final Map<TopicPartition, OffsetAndMetadata> confirmed = new HashMap<>();
    private final List<Duration> attempts = new ArrayList<>();
    private final List<OffsetCommitCallback> unanswered = new ArrayList<>();
    private int timeouts;
    private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("earliest") {
        @Override
        public void commitSync(Map<TopicPartition, OffsetAndMetadata> offsets, Duration timeout) {
            attempts.add(timeout);
            requests.add(Map.copyOf(offsets));
            if (timeouts > 0 || offsets.containsKey(NO_MORE)) {
                timeouts--;
                throw new TimeoutException("Not committed in time");
            }
        }

        @Override
        public synchronized void commitAsync(
                Map<TopicPartition, OffsetAndMetadata> offsets, OffsetCommitCallback callback) {
            requests.add(Map.copyOf(offsets));
            unanswered.add(callback);
        }
    };
    private final OffsetCommits commits = new OffsetCommits(consumer, new SourceTopics(consumer), confirmed::putAll);

    OffsetCommitsTest() {
        consumer.updatePartitions("orders", List.of(new PartitionInfo("orders", 0, Node.noNode(), null, null)));
    }

    @Test
    void shouldCommitTheOthersWhenAPartitionIsNoMore() {
        Set<TopicPartition> gone = commits.commit(Map.of(HERE, FIVE, NO_MORE, FIVE), deadline(60));

        assertThat(gone).containsExactly(NO_MORE);
        assertThat(requests).containsExactly(Map.of(HERE, FIVE, NO_MORE, FIVE), Map.of(HERE, FIVE));
    }

    @Test
    void shouldTryAgainWithMoreTimeWhenTheSourceIsSlow() {
        timeouts = 3;

        Set<TopicPartition> gone = commits.commit(Map.of(HERE, FIVE), deadline(60));

        assertThat(gone).isEmpty();
        assertThat(attempts).extracting(Duration::toSeconds).containsExactly(1L, 2L, 4L, 8L);
        assertThat(commits.uncommitted(Map.of(HERE, FIVE))).isEmpty();
    }

    @Test
    void shouldGiveUpAtTheDeadline() {
        timeouts = Integer.MAX_VALUE;

        assertThatThrownBy(() -> commits.commit(Map.of(HERE, FIVE), deadline(-1)))
                .isInstanceOf(TimeoutException.class);

        assertThat(attempts).extracting(Duration::toSeconds).containsExactly(1L);
        assertThat(commits.uncommitted(Map.of(HERE, FIVE))).containsOnlyKeys(HERE);
    }

    @Test
    void shouldCommitAgainOnlyWhatTheSourceHasNotConfirmed() {
        commits.commitInBackground(Map.of(HERE, FIVE));
        commits.commitInBackground(Map.of(HERE, FIVE)); // Not sent: the first is not answered yet.
        unanswered.get(0).onComplete(requests.get(0), new TimeoutException("Not committed"));
        commits.commitInBackground(Map.of(HERE, FIVE));
        unanswered.get(1).onComplete(requests.get(1), null);
        commits.commitInBackground(Map.of(HERE, FIVE));
        commits.commit(Map.of(HERE, FIVE), deadline(60));

        assertThat(requests).hasSize(2);
    }

    @Test
    void shouldCommitWhatItHasForgotten() {
        commits.commit(Map.of(HERE, FIVE), deadline(60));
        commits.forget(List.of(HERE));
        commits.commit(Map.of(HERE, FIVE), deadline(60));

        assertThat(requests).hasSize(2);
    }

    private static long deadline(int seconds) {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    }
}
