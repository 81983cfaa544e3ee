package dev.millrace.mirror;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.Test;

class TargetPartitionsTest {
    private static final TopicPartition FIRST = new TopicPartition("orders", 0);
    private static final TopicPartition SECOND = new TopicPartition("orders", 1);
    private static final TopicPartition OTHER = new TopicPartition("payments", 0);

    private final Map<String, RuntimeException> refusals = new HashMap<>();
    private final List<TopicPartition> tried = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private final RefusedTopics refused = new RefusedTopics(null);
    private final TargetPartitions partitions = Targets.prepared(
            partition -> {
                tried.add(partition);
                if (refusals.containsKey(partition.topic())) {
                    throw refusals.get(partition.topic());
                }
                return true;
            },
            failures::add,
            refused);

    @Test
    void shouldTryAgainWhatTheTargetDidNotAnswerAndGoOnWithOtherTopics() {
        refusals.put("orders", MirrorException.failed("Could not make orders ready", new TimeoutException("late")));

        partitions.prepare(List.of(FIRST, SECOND, OTHER));
        assertThat(partitions.isReady(OTHER)).isTrue();
        assertThat(partitions.isReady(FIRST)).isFalse();
        assertThat(partitions.problemOrNull("orders")).isEqualTo("Could not make orders ready: late");
        assertThat(tried).as("a topic is tried once in a round").hasSize(2);
        refusals.clear();
        partitions.prepareWanted();

        assertThat(partitions.isReady(FIRST)).isTrue();
        assertThat(partitions.isReady(SECOND)).isTrue();
        assertThat(partitions.problemOrNull("orders")).isNull();
        assertThat(failures).isEmpty();
    }

    @Test
    void shouldFailOfWhatTryingAgainDoesNotMend() {
        refusals.put("orders", MirrorException.failed("Could not", new TopicAuthorizationException("not allowed")));

        partitions.prepare(List.of(FIRST));

        assertThat(failures).singleElement().asString().contains("not allowed");
    }

    @Test
    void shouldGoOnWithoutATopicThatTheTargetRefusesBecauseOfItsName() {
        refusals.put("orders", MirrorException.failed("Could not", new InvalidTopicException("collides")));

        partitions.prepare(List.of(FIRST, OTHER));
        assertThat(partitions.isReady(OTHER)).isTrue();
        assertThat(partitions.isReady(FIRST)).isFalse();
        assertThat(refused.isRefusedByTarget("orders")).isTrue();
        assertThat(refused.count()).isOne();
        refusals.clear();
        partitions.prepareWanted();

        assertThat(partitions.isReady(FIRST)).isTrue();
        assertThat(refused.count()).isZero();
        assertThat(failures).isEmpty();
    }

    @Test
    void shouldMakeReadyAgainWhatTheTargetHasLost() {
        partitions.prepare(List.of(FIRST));
        assertThat(partitions.isReady(FIRST)).isTrue();

        partitions.onMissing(FIRST);
        assertThat(partitions.isReady(FIRST)).isFalse();
        partitions.prepareWanted();

        assertThat(partitions.isReady(FIRST)).isTrue();
    }

    @Test
    void shouldNotMakeReadyWhatIsForgotten() {
        partitions.prepare(List.of(FIRST));
        partitions.forget(Set.of(FIRST));

        partitions.onMissing(FIRST);
        partitions.prepareWanted();

        assertThat(partitions.isReady(FIRST)).isFalse();
        assertThat(tried).hasSize(1);
    }
}
