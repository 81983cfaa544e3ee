package dev.millrace.client.accumulator;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.kafka.common.TopicPartition;

/**
 * The queues of all partitions that ever had a record. A topic is found by its index, not by its name, so that
 * {@code send} looks up the name only once.
 *
 * <p><b>Threads:</b> {@code get}, {@code backlog} and {@code forEach} by any thread, without a lock. {@code create} and
 * {@code close} exclude each other: after {@code close} has returned no queue is open, and none is created.
 * <p><b>Ordering:</b> a topic's array is stored by a volatile write after its queues are constructed, and never
 * changed; a thread that finds it by a volatile read sees them completely. A larger table is filled before it is
 * published; writes are under the lock, so none is lost.
 */
final class PartitionQueues {
    private static final PartitionQueue[] NONE = {};

    private final ReentrantLock creation = new ReentrantLock();
    private volatile AtomicReferenceArray<PartitionQueue[]> topics = new AtomicReferenceArray<>(1);
    private int nextId;
    private volatile boolean closed;

    /** Returns the queue; null if the partition never had a record. */
    PartitionQueue get(int topicIndex, int partition) {
        PartitionQueue[] queues = queuesOf(topicIndex);
        return partition < queues.length ? queues[partition] : null;
    }

    /** Does the same by the topic's name: searches all topics, for a topic whose index is no longer known. */
    PartitionQueue find(TopicPartition partition) {
        for (int index = 0; index < topics.length(); index++) {
            PartitionQueue queue = get(index, partition.partition());
            if (queue != null && queue.partition().equals(partition)) {
                return queue;
            }
        }
        return null;
    }

    private PartitionQueue[] queuesOf(int topicIndex) {
        AtomicReferenceArray<PartitionQueue[]> all = topics;
        PartitionQueue[] queues = topicIndex < all.length() ? all.get(topicIndex) : null;
        return queues == null ? NONE : queues;
    }

    /**
     * Creates the queue of a partition, unless another thread has done so.
     *
     * @return null if closed
     */
    PartitionQueue create(Accumulator accumulator, String topic, int topicIndex, int partition) {
        creation.lock();
        try {
            if (closed) {
                return null;
            }
            PartitionQueue known = get(topicIndex, partition);
            if (known != null) {
                return known;
            }
            PartitionQueue[] queues = queuesOf(topicIndex);
            PartitionQueue[] grown = Arrays.copyOf(queues, Math.max(partition + 1, queues.length));
            grown[partition] = new PartitionQueue(accumulator, new TopicPartition(topic, partition), nextId++);
            put(topicIndex, grown);
            return grown[partition];
        } finally {
            creation.unlock();
        }
    }

    private void put(int topicIndex, PartitionQueue[] queues) {
        if (topicIndex >= topics.length()) {
            AtomicReferenceArray<PartitionQueue[]> larger = new AtomicReferenceArray<>(2 * topicIndex);
            for (int i = 0; i < topics.length(); i++) {
                larger.set(i, topics.get(i));
            }
            topics = larger;
        }
        topics.set(topicIndex, queues);
    }

    int[] backlog(int topicIndex, int partitions) {
        int[] waiting = new int[partitions];
        PartitionQueue[] queues = queuesOf(topicIndex);
        for (int p = 0; p < Math.min(partitions, queues.length); p++) {
            waiting[p] = queues[p] == null ? 0 : queues[p].backlog();
        }
        return waiting;
    }

    void close() {
        creation.lock();
        try {
            closed = true;
            forEach(PartitionQueue::close);
        } finally {
            creation.unlock();
        }
    }

    boolean isClosed() {
        return closed;
    }

    void forEach(Consumer<PartitionQueue> action) {
        AtomicReferenceArray<PartitionQueue[]> all = topics;
        for (int i = 0; i < all.length(); i++) {
            for (PartitionQueue queue : queuesOf(i)) {
                if (queue != null) {
                    action.accept(queue);
                }
            }
        }
    }
}
