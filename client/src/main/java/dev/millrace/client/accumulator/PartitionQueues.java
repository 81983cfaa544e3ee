package dev.millrace.client.accumulator;

import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.kafka.common.TopicPartition;

/**
 * The queues of all partitions that records were ever appended to.
 *
 * <p><b>Threads:</b> {@code get} and {@code forEach} by any thread, without a lock. {@code create} and {@code close}
 * exclude each other, so that once {@code close} has returned no queue is open and none can appear.
 */
final class PartitionQueues {
    private final ConcurrentHashMap<String, PartitionQueue[]> topics = new ConcurrentHashMap<>();
    private final ReentrantLock creation = new ReentrantLock();
    private int nextId;
    private volatile boolean closed;

    /** Null if nothing was ever appended to that partition. */
    PartitionQueue get(String topic, int partition) {
        PartitionQueue[] queues = topics.get(topic);
        return queues != null && partition < queues.length ? queues[partition] : null;
    }

    /**
     * The first record of a partition makes its queue.
     *
     * @param partitions how many the topic has
     * @return null when closed
     */
    PartitionQueue create(Accumulator accumulator, String topic, int partition, int partitions) {
        creation.lock();
        try {
            if (closed) {
                return null;
            }
            PartitionQueue[] known = topics.getOrDefault(topic, new PartitionQueue[0]);
            if (partition < known.length && known[partition] != null) {
                return known[partition];
            }
            PartitionQueue[] grown = Arrays.copyOf(known, Math.max(partitions, known.length));
            grown[partition] = new PartitionQueue(accumulator, new TopicPartition(topic, partition), nextId++);
            topics.put(topic, grown);
            return grown[partition];
        } finally {
            creation.unlock();
        }
    }

    int[] backlog(String topic, int partitions) {
        int[] waiting = new int[partitions];
        PartitionQueue[] queues = topics.getOrDefault(topic, new PartitionQueue[0]);
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
        for (PartitionQueue[] queues : topics.values()) {
            for (PartitionQueue queue : queues) {
                if (queue != null) {
                    action.accept(queue);
                }
            }
        }
    }
}
