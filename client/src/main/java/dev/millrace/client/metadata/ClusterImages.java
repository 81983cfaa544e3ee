package dev.millrace.client.metadata;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;

/**
 * The current image, and the threads that wait for news of a topic.
 *
 * <p><b>Threads:</b> all methods by any thread. {@code current} is a single volatile read; {@code awaitNews} blocks; the
 * others hold the lock while they make an image, so that each is made from the one before.
 * <p><b>Ordering:</b> an image is published by a volatile store under the lock. A waiter compares versions under the
 * same lock before it joins those of its topic, and returns if there was any image that it has not seen; so every image
 * is either seen by it, or published while it is among the waiters. An answer that names the topic then wakes it, and
 * so does all that may concern any topic: an answer for all topics in use, a return to the bootstrap servers, a failure
 * and {@code close}. The other answers and leader hints give no topic and no partition that was not there before.
 * <p><b>Bounds:</b> an image of an answer is made under the lock: {@code awaitNews} may first wait for that, some
 * milliseconds for 100,000 topics.
 */
public final class ClusterImages {
    private final ReentrantLock lock = new ReentrantLock();

    /** By topic; guarded by the lock. */
    private final Map<String, Waiters> waiters = new HashMap<>();

    /** Guarded by the lock. */
    private ClusterImage bootstrap;

    private volatile ClusterImage current;
    private volatile Runnable changeListener = () -> {};
    private int failures;
    private volatile KafkaException failure;
    private volatile boolean hasFailedForGood;
    private boolean closed;

    /** The threads that wait for news of one topic. */
    private static final class Waiters {
        private final Condition news;
        private int threads;
        private int timesWoken;

        Waiters(Condition news) {
            this.news = news;
        }

        void wake() {
            timesWoken++;
            news.signalAll();
        }
    }

    public ClusterImages(ClusterImage bootstrap) {
        this.bootstrap = bootstrap;
        this.current = bootstrap;
    }

    /** Sets the listener that the changing thread runs after each change, outside the lock. */
    public void setChangeListener(Runnable listener) {
        changeListener = listener;
    }

    public ClusterImage current() {
        return current;
    }

    /**
     * Publishes the next image.
     *
     * @return whether it differs from the image before in more than its version
     */
    public boolean applyDelta(ClusterDelta delta) {
        ClusterImage older;
        ClusterImage next;
        lock.lock();
        try {
            older = current;
            next = older.withDelta(delta);
            current = next;
            wakeWaitersFor(delta);
        } finally {
            lock.unlock();
        }
        changeListener.run();
        return next.isDifferentFrom(older, delta);
    }

    /**
     * Publishes an image with the leaders that a broker named. Ignores hints whose leader epoch is not newer than the
     * known one, and hints for a topic id that the topic does not have, because it was deleted and created again.
     */
    public void applyLeaderHints(List<ClusterDelta.LeaderHint> hints, List<Node> endpoints) {
        if (hints.isEmpty()) {
            return;
        }
        lock.lock();
        try {
            ClusterImage next = current.withLeaderHints(hints, endpoints);
            if (next == current) {
                return;
            }
            current = next; // nobody waits for a leader
        } finally {
            lock.unlock();
        }
        changeListener.run();
    }

    /**
     * Publishes an image with the bootstrap servers, whose names are resolved now. Ignored if another I/O thread has found
     * some, or has given up.
     */
    public void bootstrap(List<InetSocketAddress> servers) {
        lock.lock();
        try {
            if (current.hasNodes() || hasFailedForGood) {
                return;
            }
            bootstrap = ClusterImage.bootstrap(servers);
            current = current.withNodesOf(bootstrap); // which has no news of topics
        } finally {
            lock.unlock();
        }
        changeListener.run();
    }

    /** Returns to the bootstrap servers but keeps the topics, so that {@code send} does not block for them. */
    public void rebootstrap() {
        lock.lock();
        try {
            current = current.withNodesOf(bootstrap);
            wakeAllWaiters();
        } finally {
            lock.unlock();
        }
        changeListener.run();
    }

    private void wakeWaitersFor(ClusterDelta delta) {
        if (delta.complete()) {
            wakeAllWaiters();
        } else if (!waiters.isEmpty()) {
            delta.topics().forEach(topic -> wakeWaitersFor(topic.name()));
            delta.errors().keySet().forEach(this::wakeWaitersFor);
        }
    }

    private void wakeWaitersFor(String topic) {
        Waiters ofTopic = waiters.get(topic);
        if (ofTopic != null) {
            ofTopic.wake();
        }
    }

    private void wakeAllWaiters() {
        waiters.values().forEach(Waiters::wake);
    }

    /** Makes the threads that wait now throw {@code cause}: a metadata request failed, and a retry cannot help. */
    public void failWaiters(KafkaException cause) {
        fail(cause, false);
    }

    /**
     * Makes also the threads that wait later throw {@code cause}: no bootstrap server was found, and none is sought any
     * longer. Ignored if another I/O thread has found one.
     */
    public void failForGood(KafkaException cause) {
        fail(cause, true);
    }

    private void fail(KafkaException cause, boolean forGood) {
        lock.lock();
        try {
            if (forGood && current.hasNodes()) {
                return;
            }
            failures++;
            failure = cause;
            hasFailedForGood |= forGood;
            wakeAllWaiters();
        } finally {
            lock.unlock();
        }
        changeListener.run();
    }

    /** Whether {@link #failForGood} was called. */
    public boolean hasFailedForGood() {
        return hasFailedForGood;
    }

    /** Returns the cause given to the last {@link #failWaiters} or {@link #failForGood}, or null. */
    public KafkaException lastFailure() {
        return failure;
    }

    /**
     * Blocks until there may be news of a topic that the image with {@code version} does not have, at most
     * {@code timeoutMs} milliseconds. Does not block if that is not the current image.
     *
     * @return the current image, newer or not
     * @throws KafkaException {@link #failWaiters} was called meanwhile, {@link #failForGood} ever, or the producer is
     *     closed
     * @throws InterruptedException interrupted while blocked
     */
    public ClusterImage awaitNews(String topic, int version, long timeoutMs) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            int failuresBefore = failures;
            if (current.version() <= version && !closed && !hasFailedForGood) {
                awaitWakeUp(topic, TimeUnit.MILLISECONDS.toNanos(timeoutMs));
            }
            if (closed) {
                throw new KafkaException("Producer closed while waiting for metadata");
            }
            if (failures != failuresBefore || hasFailedForGood) {
                throw failure;
            }
            return current;
        } finally {
            lock.unlock();
        }
    }

    private void awaitWakeUp(String topic, long timeoutNs) throws InterruptedException {
        Waiters ofTopic = waiters.computeIfAbsent(topic, name -> new Waiters(lock.newCondition()));
        int before = ofTopic.timesWoken;
        ofTopic.threads++;
        try {
            long remainingNs = timeoutNs;
            while (ofTopic.timesWoken == before && remainingNs > 0) {
                remainingNs = ofTopic.news.awaitNanos(remainingNs);
            }
        } finally {
            ofTopic.threads--;
            if (ofTopic.threads == 0) {
                waiters.remove(topic);
            }
        }
    }

    /** Returns the topics that threads wait for. */
    public Set<String> awaitedTopics() {
        lock.lock();
        try {
            return Set.copyOf(waiters.keySet());
        } finally {
            lock.unlock();
        }
    }

    /** Returns the number of threads that wait for news of a topic. */
    public int waitingThreads() {
        lock.lock();
        try {
            return waiters.values().stream()
                    .mapToInt(ofTopic -> ofTopic.threads)
                    .sum();
        } finally {
            lock.unlock();
        }
    }

    /** Makes all waiting threads, and all that would wait later, throw. */
    public void close() {
        lock.lock();
        try {
            closed = true;
            wakeAllWaiters();
        } finally {
            lock.unlock();
        }
    }
}
