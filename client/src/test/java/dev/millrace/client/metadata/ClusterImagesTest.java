package dev.millrace.client.metadata;

import static dev.millrace.client.metadata.TestTopics.ID;
import static dev.millrace.client.metadata.TestTopics.node;
import static dev.millrace.client.metadata.TestTopics.nodes;
import static dev.millrace.client.metadata.TestTopics.partial;
import static dev.millrace.client.metadata.TestTopics.topic;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.metadata.ClusterDelta.LeaderHint;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.common.KafkaException;
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

    @Test
    void shouldWakeAllWaitersWhenABrokerNamesANewLeader() throws Exception {
        images.applyDelta(partial(topic("t", 1, 0)));
        Waiter first = startWaiting();
        Waiter second = startWaiting();

        images.applyLeaderHints(List.of(new LeaderHint("t", ID, 0, 2, 1)), List.of());

        assertThat(first.get().leader("t", 0)).isEqualTo(node(2));
        assertThat(second.get()).isSameAs(first.get());
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
        ClusterImage seen = images.awaitNewerThan(0, 0);

        assertThat(seen).isSameAs(images.current());
    }

    @Test
    void shouldGiveTheOldImageWhenTimeRunsOut() throws InterruptedException {
        ClusterImage before = images.current();

        ClusterImage seen = images.awaitNewerThan(before.version(), 1);

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
        assertThatThrownBy(() -> images.awaitNewerThan(100, HANG_MS)).isExactlyInstanceOf(KafkaException.class);
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

    @Test
    void shouldWakeTheWaiterEveryTimeWhenImagesFollowEachOther() throws Exception {
        boolean missed = missesAnImage(new Real(), 20_000, HANG_MS);

        assertThat(missed).isFalse();
    }

    @Test
    void shouldMissAnImageWhenTheWaiterComparesOutsideTheLock() throws Exception {
        boolean missed = missesAnImage(new ComparesOutsideTheLock(), 5_000_000, 500);

        assertThat(missed).isTrue();
    }

    /** Versions as publisher and waiter see them. */
    private interface Versions {
        int current();

        int awaitNewerThan(int version, long timeoutMs) throws InterruptedException;

        void publish();
    }

    /** The waiter answers each version by waiting for the next; the publisher publishes it at about that moment. */
    private static boolean missesAnImage(Versions versions, int times, long boundMs) throws Exception {
        int first = versions.current();
        AtomicInteger seen = new AtomicInteger(first);
        AtomicInteger missed = new AtomicInteger();
        FutureTask<Void> waiter = start(() -> {
            while (seen.get() < first + times && missed.get() == 0) {
                int before = seen.get();
                long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(boundMs);
                int now = versions.awaitNewerThan(before, boundMs);
                if (now == before || System.nanoTime() - deadline > 0) {
                    missed.incrementAndGet(); // nobody woke it: the wait ran into its bound
                }
                seen.set(now);
            }
            return null;
        });
        for (int version = first; version < first + times && missed.get() == 0; version++) {
            while (seen.get() < version && missed.get() == 0) {
                Thread.onSpinWait();
            }
            for (int spin = version % 40; spin > 0; spin--) {
                Thread.onSpinWait();
            }
            versions.publish();
        }
        waiter.get(HANG_MS, TimeUnit.MILLISECONDS);
        return missed.get() > 0;
    }

    private static final class Real implements Versions {
        private final ClusterImages images = new ClusterImages(ClusterImage.bootstrap(List.of()));

        @Override
        public int current() {
            return images.current().version();
        }

        @Override
        public int awaitNewerThan(int version, long timeoutMs) throws InterruptedException {
            return images.awaitNewerThan(version, timeoutMs).version();
        }

        @Override
        public void publish() {
            images.applyDelta(partial(topic("t", 1, 0)));
        }
    }

    private static final class ComparesOutsideTheLock implements Versions {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition changed = lock.newCondition();
        private final AtomicInteger version = new AtomicInteger();

        @Override
        public int current() {
            return version.get();
        }

        @Override
        @SuppressWarnings("WaitNotInLoop") // the weakness of this twin
        public int awaitNewerThan(int seen, long timeoutMs) throws InterruptedException {
            if (version.get() > seen) {
                return version.get();
            }
            for (int spin = 0; spin < 200; spin++) { // holds the window open
                Thread.onSpinWait();
            }
            lock.lock();
            try {
                boolean woken = changed.await(timeoutMs, TimeUnit.MILLISECONDS);
                return woken ? version.get() : seen;
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void publish() {
            lock.lock();
            try {
                version.incrementAndGet();
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    private Waiter startWaiting() {
        int version = images.current().version();
        Waiter waiter = new Waiter(() -> images.awaitNewerThan(version, HANG_MS));
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
