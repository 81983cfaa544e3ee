package dev.millrace.mirror;

import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.ProducerConfig;

/**
 * Divides the producer's memory among the partitions: each may have as much in flight as is free. So partitions without
 * a leader, however many they are, leave room for the others.
 *
 * <p>The bytes of a partition are estimated from its outstanding records and the mean size of those sent last. Half of
 * {@code buffer.memory} is divided, because batches take more of it than their records do.
 *
 * <p><b>Threads:</b> any.
 */
final class InFlightMemory {
    private final long total;
    private final AtomicLong used = new AtomicLong();

    /** That of a producer with this configuration. */
    static InFlightMemory of(Map<String, Object> producer) {
        return new InFlightMemory(new ProducerConfig(producer).getLong(ProducerConfig.BUFFER_MEMORY_CONFIG));
    }

    /** @param bufferMemory bytes that the producer may use */
    InFlightMemory(long bufferMemory) {
        this.total = bufferMemory / 2;
    }

    /** The share of one partition. Threads: one at a time sends; any may ask and update. */
    final class Share {
        private final AtomicLong bytes = new AtomicLong();
        private volatile double meanSize;

        /** So many records of so many bytes in all are handed to the producer. */
        void onSent(long records, long size) {
            if (records > 0) {
                meanSize = (double) size / records;
            }
        }

        /** To be called when the number of outstanding records has changed. */
        void update(long outstanding) {
            long now = (long) (outstanding * meanSize);
            used.addAndGet(now - bytes.getAndSet(now));
        }

        /** Whether more of the partition may be sent. */
        boolean hasRoom(long outstanding) {
            update(outstanding);
            return outstanding == 0 || bytes.get() < total - used.get();
        }
    }
}
