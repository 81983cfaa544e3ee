package dev.millrace.client.metadata;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;

/**
 * The current image, and the threads that wait for the next one.
 *
 * <p><b>Threads:</b> all methods by any thread. {@code current} is a single volatile read; {@code awaitNewerThan}
 * blocks; the others hold the lock shortly, so that each image is made from the one before.
 * <p><b>Ordering:</b> an image is published by a volatile store under the lock; a waiter compares versions under the
 * same lock, and so either sees the new image or is woken.
 */
public final class ClusterImages {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ClusterImage bootstrap;
    private volatile ClusterImage current;
    private volatile Runnable changeListener = () -> {};
    private int failures;
    private volatile KafkaException failure;
    private boolean closed;

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
            publish(next);
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
            publish(next);
        } finally {
            lock.unlock();
        }
        changeListener.run();
    }

    /** Goes back to the bootstrap servers, but keeps the topics, so that {@code send} does not block for them. */
    public void rebootstrap() {
        lock.lock();
        try {
            publish(current.withNodesOf(bootstrap));
        } finally {
            lock.unlock();
        }
        changeListener.run();
    }

    private void publish(ClusterImage next) {
        current = next;
        changed.signalAll();
    }

    /** Makes the threads that wait now throw {@code cause}: a metadata request failed, and a retry cannot help. */
    public void failWaiters(KafkaException cause) {
        lock.lock();
        try {
            failures++;
            failure = cause;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        changeListener.run();
    }

    /** The cause given to the last {@link #failWaiters}, or null. */
    public KafkaException lastFailure() {
        return failure;
    }

    /**
     * Blocks until there is an image newer than {@code version}, at most {@code timeoutMs} milliseconds.
     *
     * @return the current image, newer or not
     * @throws KafkaException {@link #failWaiters} was called meanwhile, or the producer is closed
     * @throws InterruptedException interrupted while blocked
     */
    public ClusterImage awaitNewerThan(int version, long timeoutMs) throws InterruptedException {
        long remainingNs = TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        lock.lockInterruptibly();
        try {
            int failuresBefore = failures;
            while (current.version() <= version && remainingNs > 0 && !closed && failures == failuresBefore) {
                remainingNs = changed.awaitNanos(remainingNs);
            }
            if (closed) {
                throw new KafkaException("Producer closed while waiting for metadata");
            }
            if (failures != failuresBefore) {
                throw failure;
            }
            return current;
        } finally {
            lock.unlock();
        }
    }

    /** The number of threads that wait for the next image. */
    public int waitingThreads() {
        lock.lock();
        try {
            return lock.getWaitQueueLength(changed);
        } finally {
            lock.unlock();
        }
    }

    /** Makes all waiting threads, and all that would wait later, throw. */
    public void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
