package dev.millrace.client.metadata;

import static dev.millrace.client.metadata.TestTopics.partial;
import static dev.millrace.client.metadata.TestTopics.topic;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/**
 * A thread answers each piece of news of its topic by waiting for the next; another publishes it at about that moment,
 * between images that are of no concern to the waiter. No wait may end at its bound. Two twins with one weakness each
 * show that the test would notice.
 */
class ClusterImagesStressTest {
    private static final long HANG_MS = 20_000;

    /** A twin that waits for so long has missed its wake-up. */
    private static final long TWIN_HANG_MS = 500;

    /**
     * What a thread that waits knows.
     *
     * @param news how often the topic that it waits for was published
     */
    private record View(int version, int news) {}

    /** Images as publisher and waiter see them. */
    private interface Images {
        View current();

        View awaitNews(int version, long timeoutMs) throws InterruptedException;

        void publishNews(int news);

        void publishOther();
    }

    @Test
    void shouldWakeTheWaiterEveryTimeWhenItsTopicIsPublished() throws Exception {
        assertThat(missesNews(new Real(), 20_000, HANG_MS)).isFalse();
    }

    @Test
    void shouldMissNewsWhenTheWaiterComparesOutsideTheLock() throws Exception {
        assertThat(missesNews(new ComparesOutsideTheLock(), 5_000_000, TWIN_HANG_MS))
                .isTrue();
    }

    @Test
    void shouldMissNewsWhenWaitersAreWokenBeforeTheImageIsPublished() throws Exception {
        assertThat(missesNews(new WakesBeforeItPublishes(), 5_000_000, TWIN_HANG_MS))
                .isTrue();
    }

    private static boolean missesNews(Images images, int times, long boundMs) throws Exception {
        AtomicInteger seen = new AtomicInteger();
        AtomicBoolean missed = new AtomicBoolean();
        View before = images.current();
        FutureTask<Void> waiter = new FutureTask<>(() -> {
            View view = before;
            while (view.news() < times && !missed.get()) {
                long startNs = System.nanoTime();
                view = images.awaitNews(view.version(), boundMs);
                missed.set(System.nanoTime() - startNs >= TimeUnit.MILLISECONDS.toNanos(boundMs));
                seen.set(view.news());
            }
            return null;
        });
        Thread thread = new Thread(waiter);
        thread.setDaemon(true);
        thread.start();
        for (int news = 1; news <= times && !missed.get(); news++) {
            while (seen.get() < news - 1 && !missed.get()) {
                Thread.onSpinWait();
            }
            if (news % 3 == 0) {
                images.publishOther();
            }
            for (int spin = news % 40; spin > 0; spin--) {
                Thread.onSpinWait();
            }
            images.publishNews(news);
            if (news % 3 == 1) {
                images.publishOther();
            }
        }
        waiter.get(2 * HANG_MS, TimeUnit.MILLISECONDS);
        return missed.get();
    }

    private static final class Real implements Images {
        private final ClusterImages images = new ClusterImages(ClusterImage.bootstrap(List.of()));

        private static View view(ClusterImage image) {
            TopicImage topic = image.topic("t");
            return new View(image.version(), topic == null ? 0 : topic.leaderEpoch(0));
        }

        @Override
        public View current() {
            return view(images.current());
        }

        @Override
        public View awaitNews(int version, long timeoutMs) throws InterruptedException {
            return view(images.awaitNews("t", version, timeoutMs));
        }

        @Override
        public void publishNews(int news) {
            images.applyDelta(partial(topic("t", 1, news)));
        }

        @Override
        public void publishOther() {
            images.applyDelta(partial(topic("u", 1, 0)));
        }
    }

    /** Does right what the twins have in common. */
    private abstract static class Twin implements Images {
        final ReentrantLock lock = new ReentrantLock();
        final Condition changed = lock.newCondition();
        volatile View view = new View(0, 0);

        @Override
        public View current() {
            return view;
        }

        @Override
        public View awaitNews(int version, long timeoutMs) throws InterruptedException {
            lock.lock();
            try {
                long leftNs = TimeUnit.MILLISECONDS.toNanos(timeoutMs);
                while (view.version() <= version && leftNs > 0) {
                    leftNs = changed.awaitNanos(leftNs);
                }
                return view;
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void publishNews(int news) {
            lock.lock();
            try {
                view = new View(view.version() + 1, news);
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void publishOther() {
            view = new View(view.version() + 1, view.news());
        }

        static void holdTheWindowOpen() {
            for (int spin = 0; spin < 200; spin++) {
                Thread.onSpinWait();
            }
        }
    }

    private static final class ComparesOutsideTheLock extends Twin {
        @Override
        @SuppressWarnings("WaitNotInLoop") // the weakness of this twin
        public View awaitNews(int version, long timeoutMs) throws InterruptedException {
            if (view.version() > version) {
                return view;
            }
            holdTheWindowOpen();
            lock.lock();
            try {
                changed.await(timeoutMs, TimeUnit.MILLISECONDS);
                return view;
            } finally {
                lock.unlock();
            }
        }
    }

    private static final class WakesBeforeItPublishes extends Twin {
        @Override
        public void publishNews(int news) {
            lock.lock();
            try {
                changed.signalAll();
            } finally {
                lock.unlock();
            }
            holdTheWindowOpen();
            view = new View(view.version() + 1, news);
        }
    }
}
