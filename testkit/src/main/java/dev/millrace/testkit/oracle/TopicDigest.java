package dev.millrace.testkit.oracle;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * What a topic held when it was read: a hash of every record, in the order of its partition. Two of them tell whether
 * one topic is a faithful copy of the other. Takes 8 bytes a record, and up to twice that while reading. Immutable.
 */
public final class TopicDigest {
    /** By partition; without trailing partitions that are empty. */
    private final List<long[]> hashes;

    private TopicDigest(List<long[]> hashes) {
        this.hashes = hashes;
    }

    /** As {@link #read(Map, String, LongConsumer)}, without telling the progress. */
    public static TopicDigest read(Map<String, Object> clientConfig, String topic) {
        return read(clientConfig, topic, recordsSoFar -> {});
    }

    /**
     * Reads a topic from its beginning to its present end, in the calling thread.
     *
     * @param clientConfig for a consumer, as from {@link dev.millrace.testkit.cluster.KafkaCluster#clientConfig()}
     * @param progress told the number of records so far, from time to time, in the calling thread
     * @throws IllegalArgumentException when there is no such topic
     * @throws IllegalStateException when reading makes no progress for 60 s
     * @throws org.apache.kafka.common.KafkaException as the consumer throws it
     */
    public static TopicDigest read(Map<String, Object> clientConfig, String topic, LongConsumer progress) {
        Collector collector = new Collector();
        TopicReader.readAll(clientConfig, List.of(topic), collector::add, () -> progress.accept(collector.total));
        return collector.digest();
    }

    /** The digest of records given in the order of each partition. */
    static TopicDigest of(Iterable<ConsumerRecord<byte[], byte[]>> records) {
        Collector collector = new Collector();
        records.forEach(collector::add);
        return collector.digest();
    }

    /** How many records the topic held. */
    public long records() {
        return hashes.stream().mapToLong(partition -> partition.length).sum();
    }

    /**
     * Tells how faithful a copy of this one the other is; takes a second or so for millions of records. A partition of the
     * source should not have two records that are the same in everything, their timestamps included: if the target has such
     * records more often, it cannot be told which of them a copy is of, and it may count as reordered though it is not.
     */
    public Comparison compare(TopicDigest target) {
        return new DigestComparer(this, target).compare();
    }

    int partitions() {
        return hashes.size();
    }

    /** The hashes of a partition in order; empty when there is no such partition. Not to be written to. */
    long[] partition(int partition) {
        return partition < hashes.size() ? hashes.get(partition) : new long[0];
    }

    /** The hashes of all partitions, ascending. */
    long[] sorted() {
        return hashes.stream().flatMapToLong(Arrays::stream).sorted().toArray();
    }

    private static final class Collector {
        private static final int FIRST_CAPACITY = 1024;

        private final List<long[]> hashes = new ArrayList<>();
        private int[] sizes = new int[0];
        private long total;

        void add(ConsumerRecord<byte[], byte[]> record) {
            int partition = record.partition();
            while (hashes.size() <= partition) {
                hashes.add(new long[FIRST_CAPACITY]);
                sizes = Arrays.copyOf(sizes, hashes.size());
            }
            long[] ofPartition = hashes.get(partition);
            if (sizes[partition] == ofPartition.length) {
                ofPartition = Arrays.copyOf(ofPartition, 2 * ofPartition.length);
                hashes.set(partition, ofPartition);
            }
            ofPartition[sizes[partition]++] = RecordHash.of(record);
            total++;
        }

        TopicDigest digest() {
            for (int partition = 0; partition < sizes.length; partition++) {
                hashes.set(partition, Arrays.copyOf(hashes.get(partition), sizes[partition]));
            }
            return new TopicDigest(hashes);
        }
    }
}
