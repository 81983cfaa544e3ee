package dev.millrace.client.metadata;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;

/**
 * The current image, and the threads that wait for the next.
 *
 * <p><b>Threads:</b> {@code current} by any thread, a single volatile read; {@code awaitNewerThan} by any thread, it
 * blocks; {@code apply}, {@code fail} and {@code close} by any; images are made one after the other.
 * <p><b>Ordering:</b> images are published by a volatile store under the lock under which waiters compare versions, so
 * that a waiter either sees the new image or is woken.
 */
public final class ClusterImages {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ClusterImage bootstrap;
    private volatile ClusterImage current;
    private volatile Runnable onChange = () -> {};
    private int failures;
    private volatile KafkaException failure;
    private boolean closed;

    public ClusterImages(ClusterImage bootstrap) {
        this.bootstrap = bootstrap;
        this.current = bootstrap;
    }

    /** Sets what is run after every change, by the thread that made it. */
    public void onChange(Runnable listener) {
        onChange = listener;
    }

    public ClusterImage current() {
        return current;
    }

    /** Publishes the next image; tells whether it says anything new. */
    public boolean apply(ClusterDelta delta) {
        ClusterImage older;
        ClusterImage next;
        lock.lock();
        try {
            older = current;
            next = older.apply(delta);
            publish(next);
        } finally {
            lock.unlock();
        }
        onChange.run();
        return next.isNews(older, delta);
    }

    /** Takes over leaders that brokers named; older ones than known are ignored, and those of a topic that was created anew. */
    public void apply(List<ClusterDelta.LeaderHint> hints, List<Node> endpoints) {
        if (hints.isEmpty()) {
            return;
        }
        lock.lock();
        try {
            ClusterImage next = current.apply(hints, endpoints);
            if (next == current) {
                return;
            }
            publish(next);
        } finally {
            lock.unlock();
        }
        onChange.run();
    }

    /** Goes back to the brokers known at first. What is known of topics stays, so that {@code send} need not block. */
    public void rebootstrap() {
        lock.lock();
        try {
            publish(current.withNodesOf(bootstrap));
        } finally {
            lock.unlock();
        }
        onChange.run();
    }

    private void publish(ClusterImage next) {
        current = next;
        changed.signalAll();
    }

    /** Makes those who wait now throw {@code cause}: asking the cluster failed in a way that waiting does not mend. */
    public void fail(KafkaException cause) {
        lock.lock();
        try {
            failures++;
            failure = cause;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        onChange.run();
    }

    /** The cause of the last {@link #fail}, or null. */
    public KafkaException lastFailure() {
        return failure;
    }

    /**
     * Blocks until there is an image newer than {@code version}, but no longer than {@code timeoutMs}.
     *
     * @return the current image, newer or not
     * @throws KafkaException {@link #fail} was called meanwhile, or the producer closed
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

    /** How many threads wait for the next image. */
    public int waitingThreads() {
        lock.lock();
        try {
            return lock.getWaitQueueLength(changed);
        } finally {
            lock.unlock();
        }
    }

    /** Wakes all who wait; they throw. */
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
