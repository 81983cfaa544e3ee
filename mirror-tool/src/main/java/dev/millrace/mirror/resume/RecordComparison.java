package dev.millrace.mirror.resume;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.TopicNames;
import java.time.Duration;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.record.TimestampType;

/**
 * Compares records of the source with those of the target, one by one: key, value, headers and timestamp.
 *
 * <p><b>Threads:</b> one at a time.
 */
public final class RecordComparison implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);
    /** The last offsets of a log may be transaction markers, or compacted away. */
    private static final int LOOK_BACK = 100;
    /** How many records are searched from the first with the record's timestamp on. */
    private static final int SEARCHED = 10_000;

    private final Reader source;
    private final Reader target;
    private final TopicNames names;

    /** Reads with these consumers, which are in no group; an answer may take as long as {@code patience}. */
    RecordComparison(
            Consumer<byte[], byte[]> source, Consumer<byte[], byte[]> target, TopicNames names, Duration patience) {
        this.source = new Reader(source, patience);
        this.target = new Reader(target, patience);
        this.names = names;
    }

    /** Opens a consumer for each of the clusters. */
    public static RecordComparison open(MirrorConfig config) {
        return open(config, "read_uncommitted");
    }

    /** Opens consumers, with this {@code isolation.level} for the target. */
    public static RecordComparison open(MirrorConfig config, String onTarget) {
        Object isolation = config.consumer().getOrDefault(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_uncommitted");
        return new RecordComparison(
                Clusters.createReader(config.consumer(), isolation),
                Clusters.createReader(config.producer(), onTarget),
                config.names(),
                PATIENCE);
    }

    /**
     * Returns the source position after the last of {@code count} records from {@code sourceFrom} on, if the target has
     * the same records from {@code targetFrom} on; otherwise empty. Blocks while records arrive.
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

    /**
     * Returns the source offset after the record whose copy is the target's last one; where the source begins, if the
     * target has never had a record. Empty if it is not found. Blocks while records arrive.
     *
     * @throws TimeoutException a cluster has sent nothing for 5 s, so that it is not known
     */
    OptionalLong endOfCopy(TopicPartition partition) {
        TopicPartition copy = names.onTarget(partition);
        long targetEnd = target.end(copy);
        if (targetEnd == 0) {
            return OptionalLong.of(source.start(partition));
        }
        ConsumerRecord<byte[], byte[]> last = null;
        target.seek(copy, Math.max(target.start(copy), targetEnd - LOOK_BACK));
        for (ConsumerRecord<byte[], byte[]> next = target.nextOrNull(); next != null; next = target.nextOrNull()) {
            last = next;
        }
        if (last == null) {
            return OptionalLong.empty();
        }
        boolean isInSource = last.offset() >= source.start(partition) && last.offset() < source.end(partition);
        if (isInSource && findOnSource(last, partition, last.offset(), 1).isPresent()) {
            return OptionalLong.of(last.offset() + 1);
        }
        OffsetAndTimestamp first = source.consumer
                .offsetsForTimes(Map.of(partition, last.timestamp()), source.patience)
                .get(partition);
        return first == null ? OptionalLong.empty() : findOnSource(last, partition, first.offset(), SEARCHED);
    }

    /** Returns the offset after the first record that equals the copy, among a limited number of records. */
    private OptionalLong findOnSource(
            ConsumerRecord<byte[], byte[]> copy, TopicPartition partition, long from, int count) {
        source.seek(partition, from);
        for (int i = 0; i < count; i++) {
            ConsumerRecord<byte[], byte[]> next = source.nextOrNull();
            if (next == null) {
                break;
            }
            if (isCopy(next, copy)) {
                return OptionalLong.of(next.offset() + 1);
            }
        }
        return OptionalLong.empty();
    }

    /** Returns whether all is equal; timestamps that the target has replaced count as equal. */
    public static boolean isCopy(ConsumerRecord<byte[], byte[]> record, ConsumerRecord<byte[], byte[]> copyOrNull) {
        return copyOrNull != null
                && (copyOrNull.timestamp() == record.timestamp()
                        || copyOrNull.timestampType() == TimestampType.LOG_APPEND_TIME)
                && Arrays.equals(copyOrNull.key(), record.key())
                && Arrays.equals(copyOrNull.value(), record.value())
                && copyOrNull.headers().equals(record.headers());
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

        void seek(TopicPartition next, long offset) {
            partition = next;
            consumer.assign(List.of(partition));
            consumer.seek(partition, offset);
            polled = List.<ConsumerRecord<byte[], byte[]>>of().iterator();
        }

        /** Returns null if the log has no further record now; a cluster that does not answer is no sign of that. */
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
            return consumer.position(partition) >= end(partition);
        }

        long start(TopicPartition asked) {
            return consumer.beginningOffsets(List.of(asked), patience).get(asked);
        }

        long end(TopicPartition asked) {
            return consumer.endOffsets(List.of(asked), patience).get(asked);
        }
    }

    @Override
    public void close() {
        source.consumer.close(CloseOptions.timeout(CLOSE_TIMEOUT));
        target.consumer.close(CloseOptions.timeout(CLOSE_TIMEOUT));
    }
}
