package dev.millrace.mirror.topics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.progress.CommitMetadata;
import dev.millrace.mirror.progress.CopiedTopics;
import dev.millrace.mirror.progress.MirrorGroup;
import dev.millrace.mirror.text.MirrorException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.Test;

class TargetPartitionsTest {
    private static final TopicPartition FIRST = new TopicPartition("orders", 0);
    private static final TopicPartition SECOND = new TopicPartition("orders", 1);
    private static final TopicPartition OTHER = new TopicPartition("payments", 0);

    private static final Uuid OLD = Uuid.randomUuid();
    private static final Uuid NEW = Uuid.randomUuid();

    private final Map<String, RuntimeException> refusals = new HashMap<>();
    private final List<TopicPartition> tried = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private final RefusedTopics refused = new RefusedTopics(null);
    private final CopiedTopics copied = new CopiedTopics();
    private final AtomicLong nanos = new AtomicLong();
    private final FakeTarget target = new FakeTarget();
    private final TargetPartitions partitions =
            new TargetPartitions(target, failures::add, refused, copied, Runnable::run, nanos::get);

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
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(9));
        partitions.prepareWanted();
        assertThat(tried).as("it is not asked again so soon").containsOnlyOnce(FIRST);
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
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

    @Test
    void shouldNotCreateATopicOfWhichSomethingWasCopiedUntilAllOfItIsForgotten() {
        target.ids.remove("orders");
        progress(FIRST, OLD);
        progress(SECOND, Uuid.ZERO_UUID);
        partitions.prepare(List.of(FIRST, SECOND));

        assertThat(partitions.lost(List.of(FIRST, SECOND, OTHER)))
                .isEqualTo(Map.of(FIRST, Uuid.ZERO_UUID, SECOND, Uuid.ZERO_UUID));
        partitions.forget(List.of(FIRST));
        partitions.prepare(List.of(FIRST));
        assertThat(target.ids).doesNotContainKey("orders");
        assertThat(partitions.isReady(FIRST)).isFalse();

        partitions.forget(List.of(SECOND));
        partitions.prepareWanted();
        assertThat(partitions.isReady(FIRST)).isTrue();
        assertThat(copied.idOf(FIRST)).isEqualTo(NEW);
    }

    @Test
    void shouldBelieveThatATopicIsAnotherWhenItIsNamedForLongerThanABrokerMayLag() {
        target.ids.put("orders", NEW);
        progress(FIRST, OLD);
        partitions.prepare(List.of(FIRST, SECOND));
        assertThat(partitions.isReady(SECOND)).as("it has no progress").isTrue();
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
        partitions.prepareWanted();
        assertThat(partitions.lost(List.of(FIRST))).isEmpty();

        nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
        partitions.prepareWanted();

        assertThat(partitions.lost(List.of(FIRST))).isEqualTo(Map.of(FIRST, NEW));
        assertThat(partitions.isReady(SECOND)).isTrue();
    }

    @Test
    void shouldGoOnWithATopicThatABrokerHasMisnamedForAMoment() {
        target.ids.put("orders", NEW);
        progress(FIRST, OLD);
        partitions.prepare(List.of(FIRST));

        target.ids.put("orders", OLD);
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(3));
        partitions.prepareWanted();

        assertThat(partitions.isReady(FIRST)).isTrue();
        assertThat(copied.isIdNew(FIRST)).isFalse();
    }

    @Test
    void shouldLearnTheIdOfATopicWithProgressThatDoesNotSayIt() {
        target.ids.put("orders", NEW);
        progress(FIRST, Uuid.ZERO_UUID);

        partitions.prepare(List.of(FIRST));

        assertThat(partitions.isReady(FIRST)).isTrue();
        assertThat(copied.idOf(FIRST)).isEqualTo(NEW);
        assertThat(copied.isIdNew(FIRST)).isTrue();
    }

    @Test
    void shouldSeeThatATopicHasGoneOrIsAnotherWhileItIsReady() {
        target.ids.put("orders", OLD);
        target.ids.put("payments", OLD);
        partitions.prepare(List.of(FIRST, OTHER));
        target.ids.remove("orders");
        target.ids.put("payments", NEW);

        for (int second = 0; second < 13; second++) {
            nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
            partitions.prepareWanted();
            partitions.lookIfDue();
        }

        assertThat(partitions.lost(List.of(FIRST, OTHER))).isEqualTo(Map.of(FIRST, Uuid.ZERO_UUID, OTHER, NEW));
        assertThat(partitions.isReady(FIRST)).isFalse();
        assertThat(partitions.isReady(OTHER)).isFalse();
    }

    private void progress(TopicPartition partition, Uuid topicOnTarget) {
        OffsetAndMetadata committed = new CommitMetadata(MirrorGroup.mark("target"), Uuid.ZERO_UUID, Optional.empty())
                .copiedTo(topicOnTarget)
                .addTo(new OffsetAndMetadata(7));
        copied.onProgress(List.of(partition), Map.of(partition, Optional.of(committed)));
    }

    /** Creates topics with the new id, unless they must be there. */
    private final class FakeTarget implements TargetPartitions.Preparation {
        private final Map<String, Uuid> ids = new HashMap<>();

        @Override
        public boolean ensure(TopicPartition partition) {
            tried.add(partition);
            if (refusals.containsKey(partition.topic())) {
                throw refusals.get(partition.topic());
            }
            if (!isLost(partition.topic())) {
                ids.putIfAbsent(partition.topic(), NEW);
            }
            return ids.containsKey(partition.topic());
        }

        @Override
        public boolean isLost(String topic) {
            return !ids.containsKey(topic) && partitions.isCopied(topic);
        }

        @Override
        public Uuid idOf(String topic) {
            return ids.getOrDefault(topic, Uuid.ZERO_UUID);
        }

        @Override
        public Map<String, Uuid> askForIds(Collection<String> topics) {
            return ids;
        }

        @Override
        public void forget(String topic) {}
    }
}
