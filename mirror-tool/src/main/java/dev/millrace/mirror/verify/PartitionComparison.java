package dev.millrace.mirror.verify;

import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.TopicNames;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;

/**
 * Compares one partition after the other.
 *
 * <p><b>Threads:</b> one.
 */
final class PartitionComparison implements AutoCloseable {
    /** How often a comparison restarts because a cluster has deleted what was to be read next. */
    private static final int MOST_BEGINNINGS = 5;

    private final TopicNames names;
    private final PartitionReader source;
    private final PartitionReader target;

    /** Opens a consumer for each cluster. */
    PartitionComparison(MirrorConfig config, LongConsumer onRead) {
        names = config.names();
        String isolation = config.consumer()
                .getOrDefault(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed")
                .toString();
        source = new PartitionReader(PartitionReader.SOURCE, config.consumer(), isolation, onRead);
        // A mirror with exactly once aborts what it did not commit. All others write outside transactions.
        target = new PartitionReader(PartitionReader.TARGET, config.producer(), "read_committed", onRead);
    }

    /**
     * Compares a partition. Blocks while records arrive.
     *
     * @param isCompacted whether only the last record of each key is compared
     * @throws org.apache.kafka.common.KafkaException when a cluster does not return the records
     */
    PartitionResult compare(TopicPartition partition, PartitionRange range, boolean isCompacted) {
        PartitionRange left = range;
        boolean isWithTimestamps = true;
        for (int beginnings = 1; ; ) {
            try {
                return compare(partition, left, isCompacted, isWithTimestamps);
            } catch (PartitionReader.TimestampsReplacedException e) {
                isWithTimestamps = false;
            } catch (OffsetOutOfRangeException e) {
                if (beginnings++ == MOST_BEGINNINGS) {
                    throw e;
                }
                left = left.from(
                        source.startOf(partition, left.sourceFrom(), left.sourceTo()),
                        target.startOf(names.onTarget(partition), left.targetFrom(), left.targetTo()));
            }
        }
    }

    private PartitionResult compare(
            TopicPartition partition, PartitionRange range, boolean isCompacted, boolean isWithTimestamps) {
        PartitionTally tally = new PartitionTally(partition.partition(), isWithTimestamps);
        if (isCompacted) {
            new KeyComparison(
                            new KeyedLog(source, partition, isWithTimestamps),
                            new KeyedLog(target, names.onTarget(partition), isWithTimestamps),
                            range,
                            tally,
                            isWithTimestamps,
                            KeyComparison.MOST_KEYS)
                    .run();
        } else {
            source.open(partition, range.sourceFrom(), range.sourceTo(), isWithTimestamps);
            target.open(names.onTarget(partition), range.targetFrom(), range.targetTo(), isWithTimestamps);
            FoundFaults faults = new FoundFaults(range, tally);
            new Alignment(source, target, faults, range, Alignment.Sizes.DEFAULT).run();
        }
        return tally.result();
    }

    private record KeyedLog(PartitionReader reader, TopicPartition partition, boolean isWithTimestamps)
            implements KeyComparison.Log {
        @Override
        public void read(long from, long to, Consumer<ConsumerRecord<byte[], byte[]>> handler) {
            reader.open(partition, from, to, isWithTimestamps);
            while (!reader.isAtEnd()) {
                handler.accept(reader.next());
            }
        }

        @Override
        public long presentEnd() {
            return reader.endOf(partition);
        }
    }

    @Override
    public void close() {
        source.close();
        target.close();
    }
}
