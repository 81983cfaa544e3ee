package dev.millrace.mirror;

import java.time.Duration;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.record.TimestampType;

/**
 * Compares records of the source with those of the target, one by one: key, value, headers and timestamp.
 *
 * <p><b>Threads:</b> one at a time.
 */
final class RecordComparison implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);

    private final Reader source;
    private final Reader target;
    private final TopicNames names;

    /** Reads with these consumers, which are in no group; an answer may take so long. */
    RecordComparison(
            Consumer<byte[], byte[]> source, Consumer<byte[], byte[]> target, TopicNames names, Duration patience) {
        this.source = new Reader(source, patience);
        this.target = new Reader(target, patience);
        this.names = names;
    }

    /** Opens a consumer for each of the clusters. */
    static RecordComparison open(MirrorConfig config) {
        Object isolation = config.consumer().getOrDefault(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_uncommitted");
        return new RecordComparison(
                Clusters.createReader(config.consumer(), isolation),
                Clusters.createReader(config.producer(), "read_uncommitted"),
                config.names(),
                PATIENCE);
    }

    /**
     * The source position after the last of {@code count} records from {@code sourceFrom} on, if the target has the same
     * records from {@code targetFrom} on; else empty. Blocks while records arrive.
     *
     * @throws TimeoutException a cluster has sent nothing for 5 s, so that it is not known
     */
    Optional<OffsetAndMetadata> positionAfter(TopicPartition partition, long sourceFrom, long targetFrom, long count) {
        try {
            source.seek(partition, sourceFrom);
            target.seek(names.onTarget(partition), targetFrom);
            ConsumerRecord<byte[], byte[]> last = null;
            for (long i = 0; i < count; i++) {
                last = source.nextOrNull();
                ConsumerRecord<byte[], byte[]> copy = last == null ? null : target.nextOrNull();
                if (copy == null || !isCopy(last, copy)) {
                    return Optional.empty();
                }
            }
            return Optional.ofNullable(last)
                    .map(record -> new OffsetAndMetadata(record.offset() + 1, record.leaderEpoch(), ""));
        } catch (InvalidOffsetException e) {
            return Optional.empty(); // the source or the target has deleted some of the records
        }
    }

    /** Whether all is equal; timestamps that the target has replaced count as equal. */
    static boolean isCopy(ConsumerRecord<byte[], byte[]> record, ConsumerRecord<byte[], byte[]> copy) {
        return (copy.timestamp() == record.timestamp() || copy.timestampType() == TimestampType.LOG_APPEND_TIME)
                && Arrays.equals(copy.key(), record.key())
                && Arrays.equals(copy.value(), record.value())
                && copy.headers().equals(record.headers());
    }

    private static final class Reader {
        private final Consumer<byte[], byte[]> consumer;
        private final Duration patience;
        private TopicPartition partition;
        private Iterator<ConsumerRecord<byte[], byte[]>> polled =
                List.<ConsumerRecord<byte[], byte[]>>of().iterator();

        Reader(Consumer<byte[], byte[]> consumer, Duration patience) {
            this.consumer = consumer;
            this.patience = patience;
        }

        void seek(TopicPartition of, long offset) {
            partition = of;
            consumer.assign(List.of(partition));
            consumer.seek(partition, offset);
            polled = List.<ConsumerRecord<byte[], byte[]>>of().iterator();
        }

        /** Null if the log has no further one now; that the cluster does not answer is no reason to think so. */
        ConsumerRecord<byte[], byte[]> nextOrNull() {
            long start = System.nanoTime();
            while (!polled.hasNext()) {
                polled = consumer.poll(POLL).iterator();
                if (!polled.hasNext() && isAtEnd()) {
                    return null;
                }
                if (!polled.hasNext() && System.nanoTime() - start >= patience.toNanos()) {
                    throw new TimeoutException("no records of " + partition + " came to compare");
                }
            }
            return polled.next();
        }

        private boolean isAtEnd() {
            return consumer.position(partition)
                    >= consumer.endOffsets(List.of(partition), patience).get(partition);
        }
    }

    @Override
    public void close() {
        source.consumer.close(CloseOptions.timeout(CLOSE_TIMEOUT));
        target.consumer.close(CloseOptions.timeout(CLOSE_TIMEOUT));
    }
}
