package dev.millrace.mirror.topics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.text.MirrorException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;

class SubscribedTopicsTest {
    private static final Duration INTERVAL = Duration.ofSeconds(30);

    private final Map<String, Integer> source = new HashMap<>(Map.of("orders", 2));
    private final Map<String, MirrorException> failing = new HashMap<>();
    private final List<String> forgotten = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private boolean isSourceDown;
    private int asked;
    private long now;
    private final RefusedTopics refused = new RefusedTopics(null);
    private final SubscribedTopics topics =
            new SubscribedTopics(this::askSource, new FakeTarget(), refused, failures::add, INTERVAL);

    @Test
    void shouldHaveTheTopicsThatTheTargetIsReadyFor() {
        assertThat(topics.topics()).isEmpty();

        topics.refreshIfDue(now);

        assertThat(topics.topics()).containsExactly("orders");
        assertThat(topics.isOfSource(new TopicPartition("orders", 1))).isTrue();
        assertThat(topics.isOfSource(new TopicPartition("orders", 2))).isFalse();
        assertThat(topics.isOfSource(new TopicPartition("payments", 0))).isFalse();
    }

    @Test
    void shouldAskAgainAfterTheIntervalOnly() {
        topics.refreshIfDue(now);
        source.put("payments", 1);
        source.put("orders", 3);

        topics.refreshIfDue(now + INTERVAL.toNanos() - 1);
        assertThat(topics.topics()).containsExactly("orders");
        forgotten.clear();
        topics.refreshIfDue(now + INTERVAL.toNanos());

        assertThat(topics.topics()).containsExactlyInAnyOrder("orders", "payments");
        assertThat(topics.isOfSource(new TopicPartition("orders", 2))).isTrue();
        assertThat(forgotten).as("to be created, or grown").containsExactlyInAnyOrder("orders", "payments");
    }

    @Test
    void shouldLeaveOutATopicThatHasGoneFromTheSource() {
        topics.refreshIfDue(now);
        source.clear();

        refreshLater();

        assertThat(topics.topics()).isEmpty();
    }

    @Test
    void shouldKeepWhatItHasWhileTheSourceIsDownAndAskAgainAtOnce() {
        topics.refreshIfDue(now);
        isSourceDown = true;
        refreshLater();
        assertThat(topics.topics()).containsExactly("orders");

        isSourceDown = false;
        source.put("payments", 1);
        topics.refreshIfDue(now);

        assertThat(topics.topics()).containsExactlyInAnyOrder("orders", "payments");
        assertThat(failures).isEmpty();
    }

    @Test
    void shouldAddATopicOnceTheTargetHasItAndTryAgainAtOnce() {
        failing.put("orders", MirrorException.temporary("the target is slow"));
        topics.refreshIfDue(now);
        assertThat(topics.topics()).isEmpty();

        failing.clear();
        topics.refreshIfDue(now);

        assertThat(topics.topics()).containsExactly("orders");
        assertThat(failures).isEmpty();
        topics.refreshIfDue(now);
        assertThat(asked).isEqualTo(2);
    }

    /** Else all its partitions would be given up because the target was slow once. */
    @Test
    void shouldKeepATopicWithThePartitionsItHadWhileTheTargetDoesNotAnswer() {
        topics.refreshIfDue(now);
        source.put("orders", 3);
        failing.put("orders", MirrorException.temporary("the target is slow"));

        refreshLater();
        assertThat(topics.topics()).containsExactly("orders");
        assertThat(topics.isOfSource(new TopicPartition("orders", 1))).isTrue();
        assertThat(topics.isOfSource(new TopicPartition("orders", 2))).isFalse();
        failing.clear();
        topics.refreshIfDue(now);

        assertThat(topics.isOfSource(new TopicPartition("orders", 2))).isTrue();
        assertThat(failures).isEmpty();
    }

    @Test
    void shouldGoOnWithoutATopicThatCannotHaveItsName() {
        source.put("payments", 1);
        failing.put("payments", MirrorException.ofName("it collides"));

        topics.refreshIfDue(now);

        assertThat(failures).isEmpty();
        assertThat(refused.isRefusedByTarget("payments")).isTrue();
        assertThat(topics.topics()).containsExactly("orders");
        topics.refreshIfDue(now);
        assertThat(asked).as("it is not asked again every second").isEqualTo(1);
        failing.clear();
        refreshLater();
        assertThat(topics.topics()).containsExactlyInAnyOrder("orders", "payments");
        assertThat(refused.count()).isZero();
    }

    @Test
    void shouldFailWhenTheTargetRefusesATopicForGoodAndHaveTheOthersNevertheless() {
        MirrorException refused = MirrorException.failed("the target does not allow it");
        source.put("payments", 1);
        failing.put("payments", refused);

        topics.refreshIfDue(now);

        assertThat(failures).containsExactly(refused);
        assertThat(topics.topics()).containsExactly("orders");
    }

    private void refreshLater() {
        now += INTERVAL.toNanos();
        topics.refreshIfDue(now);
    }

    private Map<String, Integer> askSource() {
        asked++;
        if (isSourceDown) {
            throw new TimeoutException("the source is down");
        }
        return Map.copyOf(source);
    }

    private final class FakeTarget implements TargetPartitions.Preparation {
        @Override
        public boolean ensure(TopicPartition partition) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Map<String, MirrorException> prepare(Collection<String> wanted) {
            Map<String, MirrorException> why = new HashMap<>(failing);
            why.keySet().retainAll(wanted);
            return why;
        }

        @Override
        public void forget(String topic) {
            forgotten.add(topic);
        }

        @Override
        public Map<String, Uuid> askForIds(Collection<String> topics) {
            return Map.of();
        }
    }
}
