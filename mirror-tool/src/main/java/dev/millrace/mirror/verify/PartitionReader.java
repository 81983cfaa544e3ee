package dev.millrace.mirror.verify;

import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.text.MirrorException;
import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads partitions of one cluster, one after the other, up to a given end.
 *
 * <p><b>Threads:</b> one.
 */
final class PartitionReader implements RecordStream, AutoCloseable {
    static final String SOURCE = "source";
    static final String TARGET = "target";
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);

    private final String role;
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final LongConsumer onRead;
    private TopicPartition partition;
    private long end;
    /** The position after the polled records. The consumer is not asked, because it may not know the partition. */
    private long position;

    private boolean isWithTimestamps;
    private Iterator<ConsumerRecord<byte[], byte[]>> polled = Collections.emptyIterator();
    /** The next record, if it has already been peeked at. */
    private ConsumerRecord<byte[], byte[]> nextOrNull;

    /**
     * @param role {@link #SOURCE} or {@link #TARGET}
     * @param onRead receives the number of records that were read
     */
    PartitionReader(String role, Map<String, Object> client, String isolation, LongConsumer onRead) {
        this.role = role;
        this.onRead = onRead;
        consumer = new KafkaConsumer<>(
                DerivedConfigs.reader(client, isolation), new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** Timestamps of this partition cannot be compared, because the target has replaced some, or the source has none. */
    static final class TimestampsReplacedException extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /**
     * Starts reading.
     *
     * @param isWithTimestamps whether timestamps are compared, so that a replaced one must be reported
     */
    void open(TopicPartition partition, long from, long to, boolean isWithTimestamps) {
        this.partition = partition;
        this.end = to;
        this.isWithTimestamps = isWithTimestamps;
        consumer.assign(List.of(partition));
        seek(from);
    }

    /** Returns where a range begins now; its first records may have been deleted. */
    long startOf(TopicPartition asked, long from, long to) {
        if (from == to) {
            return from;
        }
        return Math.min(
                to, Math.max(from, consumer.beginningOffsets(List.of(asked)).get(asked)));
    }

    /** Returns the present end of a partition; 0 if the cluster does not have it. */
    long endOf(TopicPartition asked) {
        boolean isThere =
                consumer.partitionsFor(asked.topic()).stream().anyMatch(info -> info.partition() == asked.partition());
        return isThere ? consumer.endOffsets(List.of(asked)).get(asked) : 0;
    }

    @Override
    public void seek(long offset) {
        consumer.seek(partition, offset);
        position = offset;
        polled = Collections.emptyIterator();
        nextOrNull = null;
    }

    /**
     * Adds records.
     *
     * @throws TimestampsReplacedException if digests include timestamps and a record no longer has its own
     * @throws org.apache.kafka.clients.consumer.OffsetOutOfRangeException if the cluster has deleted the next record
     */
    @Override
    public void fill(RecordWindow window, int size) {
        while (window.size() < size && !isAtEnd()) {
            ConsumerRecord<byte[], byte[]> record = next();
            window.add(record.offset(), RecordDigest.of(record, isWithTimestamps));
        }
    }

    @Override
    public boolean isAtEnd() {
        lookAhead();
        return nextOrNull == null;
    }

    /** Returns the next record. Call it only if this {@link #isAtEnd is not at its end}. */
    ConsumerRecord<byte[], byte[]> next() {
        lookAhead();
        ConsumerRecord<byte[], byte[]> record = nextOrNull;
        nextOrNull = null;
        if (isWithTimestamps && record.timestampType() != TimestampType.CREATE_TIME && isReplaced(record)) {
            throw new TimestampsReplacedException();
        }
        return record;
    }

    /**
     * Whether a timestamp is replaced. The target keeps the source's append times, but it cannot keep a missing one.
     */
    private boolean isReplaced(ConsumerRecord<byte[], byte[]> record) {
        return role.equals(TARGET) || record.timestampType() == TimestampType.NO_TIMESTAMP_TYPE;
    }

    private void lookAhead() {
        if (nextOrNull == null && (polled.hasNext() || hasPolledMore())) {
            ConsumerRecord<byte[], byte[]> record = polled.next();
            if (record.offset() < end) {
                nextOrNull = record;
            } else {
                polled = Collections.emptyIterator();
            }
        }
    }

    private boolean hasPolledMore() {
        long start = System.nanoTime();
        while (position < end) {
            ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
            onRead.accept(records.count());
            long now = consumer.position(partition);
            boolean isMoved = now > position; // perhaps only over transaction markers
            position = now;
            if (!records.isEmpty()) {
                polled = records.iterator();
                return true;
            }
            if (isMoved) {
                start = System.nanoTime();
            } else if (System.nanoTime() - start > PATIENCE.toNanos()) {
                throw MirrorException.failed("the " + role + " gives no record of " + partition + " from offset "
                        + position + " on within " + PATIENCE.toSeconds() + " s");
            }
        }
        return false;
    }

    @Override
    public void close() {
        consumer.close(CloseOptions.timeout(CLOSE_TIMEOUT));
    }
}
