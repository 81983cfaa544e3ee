package dev.millrace.client.metadata;

import static dev.millrace.client.metadata.TestTopics.ID;
import static dev.millrace.client.metadata.TestTopics.complete;
import static dev.millrace.client.metadata.TestTopics.node;
import static dev.millrace.client.metadata.TestTopics.nodes;
import static dev.millrace.client.metadata.TestTopics.partial;
import static dev.millrace.client.metadata.TestTopics.topic;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.metadata.ClusterDelta.LeaderHint;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.Test;

class ClusterImagesTest {
    /** How long a test may stand still before it counts as hung. */
    private static final long HANG_MS = 20_000;

    private final ClusterImages images =
            new ClusterImages(ClusterImage.bootstrap(List.of()).withDelta(nodes(node(1), node(2))));

    @Test
    void shouldWakeTheWaiterWhenAnImageIsPublished() throws Exception {
        Waiter waiter = startWaiting();

        images.applyDelta(partial(topic("t", 1, 0)));

        ClusterImage seen = waiter.get();
        assertThat(seen.version()).isEqualTo(2);
        assertThat(seen.topic("t")).isNotNull();
        assertThat(images.current()).isSameAs(seen);
    }

    /** KIP-909. */
    @Test
    void shouldReturnToTheBootstrapServersThatWereResolvedFirst() {
        ClusterImages resolving = new ClusterImages(ClusterImage.bootstrap(List.of()));
        assertThat(resolving.current().hasNodes()).isFalse();

        resolving.bootstrap(List.of(InetSocketAddress.createUnresolved("h", 1)));
        resolving.bootstrap(List.of(InetSocketAddress.createUnresolved("h", 2)));
        resolving.failForGood(new KafkaException("another I/O thread was slower"));
        resolving.applyDelta(nodes(node(7)));
        resolving.rebootstrap();

        assertThat(resolving.current().nodes()).extracting(Node::port).containsExactly(1);
        assertThat(resolving.lastFailure()).isNull();
    }

    @Test
    void shouldFailThreadsThatWaitNowAndLaterWhenNoBootstrapServerIsResolved() throws Exception {
        ClusterImages resolving = new ClusterImages(ClusterImage.bootstrap(List.of()));
        Waiter waiter = new Waiter(() -> resolving.awaitNews("t", 0, HANG_MS));
        waiter.untilWaiting();
        KafkaException cause = new KafkaException("no bootstrap server");

        resolving.failForGood(cause);
        resolving.bootstrap(List.of(InetSocketAddress.createUnresolved("h", 1)));

        assertThatThrownBy(waiter::get).hasCause(cause);
        assertThatThrownBy(() -> resolving.awaitNews("t", 0, HANG_MS)).isSameAs(cause);
        assertThat(resolving.current().hasNodes()).isFalse();
    }

    @Test
    void shouldWakeTheWaiterWhenTheTopicIsAnsweredWithAnError() throws Exception {
        Waiter waiter = startWaiting();

        images.applyDelta(
                new ClusterDelta(null, List.of(), List.of(), Map.of("t", new InvalidTopicException("t")), false));

        assertThat(waiter.get().error("t")).isInstanceOf(InvalidTopicException.class);
    }

    @Test
    void shouldWakeAllWaitersWhenAllTopicsInUseAreAnswered() throws Exception {
        Waiter first = startWaiting();
        Waiter second = startWaiting();

        images.applyDelta(complete(topic("u", 1, 0)));

        assertThat(first.get().topic("u")).isNotNull();
        assertThat(second.get()).isSameAs(first.get());
    }

    @Test
    void shouldWakeTheWaiterWhenItGoesBackToBootstrapServers() throws Exception {
        int version = images.current().version();
        Waiter waiter = startWaiting();

        images.rebootstrap();

        assertThat(waiter.get().version()).isEqualTo(version + 1);
    }

    @Test
    void shouldLeaveTheWaiterAloneWhenOnlyOtherTopicsChange() throws Exception {
        Waiter waiter = startWaiting();

        for (int epoch = 0; epoch < 1_000; epoch++) {
            images.applyDelta(partial(topic("u", 1, 2 * epoch)));
            images.applyLeaderHints(List.of(new LeaderHint("u", ID, 0, 2, 2 * epoch + 1)), List.of());
            assertThat(images.waitingThreads()).isEqualTo(1);
            assertThat(images.awaitedTopics()).containsExactly("t");
        }

        images.applyDelta(partial(topic("t", 1, 0)));
        assertThat(waiter.get().topic("t")).isNotNull();
        assertThat(images.waitingThreads()).isZero();
        assertThat(images.awaitedTopics()).isEmpty();
    }

    @Test
    void shouldPublishNothingWhenTheHintIsNoNews() {
        images.applyDelta(partial(topic("t", 1, 5)));
        ClusterImage before = images.current();

        images.applyLeaderHints(List.of(new LeaderHint("t", ID, 0, 2, 5)), List.of());

        assertThat(images.current()).isSameAs(before);
    }

    @Test
    void shouldNotWaitWhenTheImageIsNewerAlready() throws InterruptedException {
        ClusterImage seen = images.awaitNews("t", 0, 0);

        assertThat(seen).isSameAs(images.current());
    }

    @Test
    void shouldGiveTheOldImageWhenTimeRunsOut() throws InterruptedException {
        ClusterImage before = images.current();

        ClusterImage seen = images.awaitNews("t", before.version(), 1);

        assertThat(seen).isSameAs(before);
    }

    @Test
    void shouldThrowWhatHappenedWhenAskingFailsWhileWaiting() throws Exception {
        TopicAuthorizationException cause = new TopicAuthorizationException("t");
        Waiter waiter = startWaiting();

        images.failWaiters(cause);

        assertThatThrownBy(waiter::get).hasCause(cause);
    }

    @Test
    void shouldWaitWhenAskingFailedOnlyBefore() throws Exception {
        images.failWaiters(new TopicAuthorizationException("t"));
        Waiter waiter = startWaiting();

        images.applyDelta(partial(topic("t", 1, 0)));

        assertThat(waiter.get().topic("t")).isNotNull();
    }

    @Test
    void shouldThrowWhenClosedWhileWaitingAndEverAfter() throws Exception {
        Waiter waiter = startWaiting();

        images.close();

        assertThatThrownBy(waiter::get)
                .hasCauseExactlyInstanceOf(KafkaException.class)
                .hasMessageContaining("closed");
        assertThatThrownBy(() -> images.awaitNews("t", 100, HANG_MS)).isExactlyInstanceOf(KafkaException.class);
    }

    @Test
    void shouldThrowInterruptedWhenInterruptedWhileWaiting() throws Exception {
        Waiter waiter = startWaiting();

        waiter.thread.interrupt();

        assertThatThrownBy(waiter::get).hasCauseInstanceOf(InterruptedException.class);
        images.applyDelta(partial(topic("t", 1, 0)));
        assertThat(images.current().topic("t")).isNotNull();
    }

    @Test
    void shouldSeeVersionsOnlyGrowWhenManyReadWhileImagesArePublished() throws Exception {
        AtomicInteger backwards = new AtomicInteger();
        int last = images.current().version() + 5_000;
        Callable<Integer> reader = () -> {
            int seen = 0;
            while (seen < last) {
                ClusterImage image = images.current();
                int epoch = image.topic("t") == null ? -1 : image.topic("t").leaderEpoch(0);
                if (image.version() < seen || (epoch >= 0 && epoch != image.version())) {
                    backwards.incrementAndGet();
                }
                seen = image.version();
            }
            return seen;
        };
        FutureTask<Integer> first = start(reader);
        FutureTask<Integer> second = start(reader);

        for (int version = images.current().version() + 1; version <= last; version++) {
            images.applyDelta(partial(topic("t", 1, version)));
        }

        assertThat(first.get(HANG_MS, TimeUnit.MILLISECONDS)).isEqualTo(last);
        assertThat(second.get(HANG_MS, TimeUnit.MILLISECONDS)).isEqualTo(last);
        assertThat(backwards).hasValue(0);
    }

    private Waiter startWaiting() {
        int version = images.current().version();
        Waiter waiter = new Waiter(() -> images.awaitNews("t", version, HANG_MS));
        waiter.untilWaiting();
        return waiter;
    }

    private static <T> FutureTask<T> start(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    private static final class Waiter {
        private final FutureTask<ClusterImage> task;
        private final Thread thread;

        Waiter(Callable<ClusterImage> wait) {
            task = new FutureTask<>(wait);
            thread = new Thread(task);
            thread.setDaemon(true);
            thread.start();
        }

        void untilWaiting() {
            long deadline = System.nanoTime() + Duration.ofMillis(HANG_MS).toNanos();
            while (thread.getState() != Thread.State.TIMED_WAITING) {
                assertThat(System.nanoTime() - deadline).as("it waits").isNegative();
                LockSupport.parkNanos(50_000);
            }
        }

        ClusterImage get() throws InterruptedException, ExecutionException {
            try {
                return task.get(HANG_MS, TimeUnit.MILLISECONDS);
            } catch (java.util.concurrent.TimeoutException e) {
                throw new AssertionError("Nobody woke the waiter", e);
            }
        }
    }
}
