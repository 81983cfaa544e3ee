package dev.millrace.mirror;

import java.time.Duration;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.TimestampType;

/**
 * Compares records of the source with those of the target, one by one: key, value, headers and timestamp.
 *
 * <p><b>Threads:</b> one at a time.
 */
final class RecordComparison implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final long PATIENCE_NANOS = Duration.ofSeconds(5).toNanos();
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);

    private final Reader source;
    private final Reader target;
    private final TopicNames names;

    /** Opens a consumer without a group for each of the clusters. */
    RecordComparison(MirrorConfig config) {
        names = config.names();
        Object isolation = config.consumer().getOrDefault(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_uncommitted");
        source = new Reader(CopyCheck.createReader(config.consumer(), isolation));
        target = new Reader(CopyCheck.createReader(config.producer(), "read_uncommitted"));
    }

    /** Whether the source has no record from the offset on. */
    boolean isEndOfSource(TopicPartition partition, long offset) {
        return source.consumer.endOffsets(List.of(partition)).get(partition) <= offset;
    }

    /**
     * The source position after the last of {@code count} records from {@code sourceFrom} on, if the target has the same
     * records from {@code targetFrom} on; else empty. Blocks while records arrive, and 5 s longer.
     */
    Optional<OffsetAndMetadata> positionAfter(TopicPartition partition, long sourceFrom, long targetFrom, long count) {
        try {
            source.seek(partition, sourceFrom);
            target.seek(names.onTarget(partition), targetFrom);
            ConsumerRecord<byte[], byte[]> last = null;
            for (long i = 0; i < count; i++) {
                last = source.nextOrNull();
                if (last == null || !isCopy(last, target.nextOrNull())) {
                    return Optional.empty();
                }
            }
            return Optional.ofNullable(last)
                    .map(record -> new OffsetAndMetadata(record.offset() + 1, record.leaderEpoch(), ""));
        } catch (InvalidOffsetException e) {
            return Optional.empty(); // the source or the target has deleted some of the records
        }
    }

    private static boolean isCopy(ConsumerRecord<byte[], byte[]> record, ConsumerRecord<byte[], byte[]> copyOrNull) {
        return copyOrNull != null
                && (copyOrNull.timestamp() == record.timestamp()
                        || copyOrNull.timestampType() == TimestampType.LOG_APPEND_TIME)
                && Arrays.equals(copyOrNull.key(), record.key())
                && Arrays.equals(copyOrNull.value(), record.value())
                && copyOrNull.headers().equals(record.headers());
    }

    private static final class Reader {
        private final KafkaConsumer<byte[], byte[]> consumer;
        private Iterator<ConsumerRecord<byte[], byte[]>> polled =
                List.<ConsumerRecord<byte[], byte[]>>of().iterator();

        Reader(KafkaConsumer<byte[], byte[]> consumer) {
            this.consumer = consumer;
        }

        void seek(TopicPartition partition, long offset) {
            consumer.assign(List.of(partition));
            consumer.seek(partition, offset);
            polled = List.<ConsumerRecord<byte[], byte[]>>of().iterator();
        }

        /** Null if none comes. */
        ConsumerRecord<byte[], byte[]> nextOrNull() {
            long start = System.nanoTime();
            while (!polled.hasNext() && System.nanoTime() - start < PATIENCE_NANOS) {
                polled = consumer.poll(POLL).iterator();
            }
            return polled.hasNext() ? polled.next() : null;
        }
    }

    @Override
    public void close() {
        source.consumer.close(CloseOptions.timeout(CLOSE_TIMEOUT));
        target.consumer.close(CloseOptions.timeout(CLOSE_TIMEOUT));
    }
}
