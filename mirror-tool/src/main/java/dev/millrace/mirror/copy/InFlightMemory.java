package dev.millrace.mirror.copy;

import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.ProducerConfig;

/**
 * Divides the producer's memory among the partitions: each may have as much in flight as is free. So partitions without
 * a leader, however many they are, leave room for the others.
 *
 * <p>Only half of {@code buffer.memory} is divided, because batches take more of it than their records do.
 *
 * <p><b>Threads:</b> any.
 */
public final class InFlightMemory {
    private static final int SMALLEST_PARTS = 256;

    private final long total;
    /** What each may have in flight, however little is free: with one batch at a time it would hardly move. */
    private final long least;

    private final AtomicLong used = new AtomicLong();
    private volatile long limit = Long.MAX_VALUE;

    /** Creates the memory of a producer with this configuration. */
    public static InFlightMemory of(Map<String, Object> producer) {
        return new InFlightMemory(new ProducerConfig(producer).getLong(ProducerConfig.BUFFER_MEMORY_CONFIG));
    }

    /** @param bufferMemory bytes that the producer may use */
    public InFlightMemory(long bufferMemory) {
        this.total = bufferMemory / 2;
        this.least = total / SMALLEST_PARTS;
    }

    /** Sets the limit: nothing more is sent while all partitions together have so many bytes in flight. */
    void limit(long bytes) {
        limit = bytes;
    }

    /** The share of one partition. Threads: any. */
    final class Share {
        private long bytes;
        private boolean isClosed;

        /** To be called when the number of bytes in flight has changed. */
        synchronized void update(long inFlight) {
            if (!isClosed) {
                used.addAndGet(inFlight - bytes);
                bytes = inFlight;
            }
        }

        /** Returns how many more bytes may be sent: some if none are in flight, unless the limit is reached. */
        long room(long inFlight) {
            update(inFlight);
            long usedByAll = used.get();
            if (usedByAll >= limit) {
                return 0;
            }
            long more = Math.max(Math.min(total, limit) - usedByAll, Math.min(least, limit)) - inFlight;
            return inFlight == 0 ? Math.max(more, 1) : more;
        }

        /** Ends the share: the partition has nothing in flight any more, whatever is reported later. */
        synchronized void close() {
            update(0);
            isClosed = true;
        }
    }
}
