package dev.millrace.mirror.copy;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * Records that a consumer has returned and the producer has not taken yet, in order within each partition. None of them
 * is in an {@link AckedPrefix}; those that are removed will be read again.
 *
 * <p><b>Threads:</b> the member's thread.
 */
final class PolledRecords {
    /** The partition whose turn is next comes first. */
    private final Map<TopicPartition, ArrayDeque<Polled>> waiting = new LinkedHashMap<>();

    /** What one poll returned of a partition. */
    static final class Polled {
        private final AckedPrefix.Page page;
        private final List<ConsumerRecord<byte[], byte[]>> records;
        private int next;

        private Polled(AckedPrefix.Page page, List<ConsumerRecord<byte[], byte[]>> records) {
            this.page = page;
            this.records = records;
        }

        AckedPrefix.Page page() {
            return page;
        }

        /** Returns the timestamp of the first record. */
        long timestamp() {
            return records.get(0).timestamp();
        }

        /** Returns the next record to be sent; null after the last one. */
        ConsumerRecord<byte[], byte[]> nextOrNull() {
            return next < records.size() ? records.get(next) : null;
        }

        void onSent() {
            next++;
        }
    }

    void add(TopicPartition partition, AckedPrefix.Page page, List<ConsumerRecord<byte[], byte[]>> records) {
        waiting.computeIfAbsent(partition, key -> new ArrayDeque<>()).add(new Polled(page, records));
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Returns a copy of the partitions with unsent records, in the order of their turns. */
    List<TopicPartition> partitions() {
        return List.copyOf(waiting.keySet());
    }

    boolean has(TopicPartition partition) {
        return waiting.containsKey(partition);
    }

    /** Returns the number of unsent records of a partition. */
    int count(TopicPartition partition) {
        ArrayDeque<Polled> all = waiting.get(partition);
        return all == null
                ? 0
                : all.stream()
                        .mapToInt(polled -> polled.records.size() - polled.next)
                        .sum();
    }

    /** Returns the oldest poll of a partition, or null. */
    Polled firstOrNull(TopicPartition partition) {
        ArrayDeque<Polled> all = waiting.get(partition);
        return all == null ? null : all.peek();
    }

    /** Removes {@link #firstOrNull}, whose records are all sent. */
    void removeFirst(TopicPartition partition) {
        ArrayDeque<Polled> all = waiting.get(partition);
        all.remove();
        if (all.isEmpty()) {
            waiting.remove(partition);
        }
    }

    /** Gives the other partitions their turn first. */
    void moveToEnd(TopicPartition partition) {
        waiting.put(partition, waiting.remove(partition));
    }

    void remove(Collection<TopicPartition> partitions) {
        waiting.keySet().removeAll(Set.copyOf(partitions));
    }
}
