package dev.millrace.testkit.oracle;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * What a topic held when it was read: a hash of every record, in the order of its partition. Two digests tell whether
 * one topic is a faithful copy of the other. Takes 8 bytes per record, and up to twice that while reading. Immutable.
 */
public final class TopicDigest {
    /** The digest of a topic that has no records, or does not exist. */
    public static final TopicDigest EMPTY = new TopicDigest(List.of());

    /** By partition; without trailing partitions that are empty. */
    private final List<long[]> hashes;

    private TopicDigest(List<long[]> hashes) {
        this.hashes = hashes;
    }

    /** Reads as {@link #read(Map, String, LongConsumer)} does, without reporting progress. */
    public static TopicDigest read(Map<String, Object> clientConfig, String topic) {
        return read(clientConfig, topic, recordsSoFar -> {});
    }

    /**
     * Reads a topic from its beginning to its present end, in the calling thread.
     *
     * @param clientConfig for a consumer, as from {@link dev.millrace.testkit.cluster.KafkaCluster#clientConfig()}
     * @param progress gets the number of records so far, from time to time, in the calling thread
     * @throws IllegalArgumentException if there is no such topic
     * @throws IllegalStateException if nothing arrives for 60 s though there is more
     * @throws org.apache.kafka.common.KafkaException as the consumer throws it
     */
    public static TopicDigest read(Map<String, Object> clientConfig, String topic, LongConsumer progress) {
        return read(clientConfig, topic, record -> true, progress);
    }

    /**
     * Reads as {@link #read(Map, String)} does, and leaves out records that are not wanted.
     *
     * @param isWanted called in the calling thread
     */
    public static TopicDigest readSome(
            Map<String, Object> clientConfig, String topic, Predicate<ConsumerRecord<byte[], byte[]>> isWanted) {
        return read(clientConfig, topic, isWanted, recordsSoFar -> {});
    }

    private static TopicDigest read(
            Map<String, Object> clientConfig,
            String topic,
            Predicate<ConsumerRecord<byte[], byte[]>> isWanted,
            LongConsumer progress) {
        Collector collector = new Collector();
        TopicReader.readAll(
                clientConfig,
                List.of(topic),
                record -> {
                    if (isWanted.test(record)) {
                        collector.add(record);
                    }
                },
                () -> progress.accept(collector.total));
        return collector.digest();
    }

    /** The digest of a topic that held these records, and after them, in each partition, those of the other. */
    public TopicDigest plus(TopicDigest later) {
        List<long[]> both = new ArrayList<>();
        for (int partition = 0; partition < Math.max(partitions(), later.partitions()); partition++) {
            both.add(LongStream.concat(Arrays.stream(partition(partition)), Arrays.stream(later.partition(partition)))
                    .toArray());
        }
        return new TopicDigest(both);
    }

    /** The digest of records that the caller has read, in the order of each partition. */
    static TopicDigest of(Iterable<ConsumerRecord<byte[], byte[]>> records) {
        Collector collector = new Collector();
        records.forEach(collector::add);
        return collector.digest();
    }

    /** The number of records that the topic held. */
    public long records() {
        return hashes.stream().mapToLong(partition -> partition.length).sum();
    }

    /**
     * Tells how faithful a copy of this topic the other is; takes about a second for millions of records. A partition
     * of the source should not have two records that are equal in everything, including timestamps: if the target has
     * more of them, we cannot tell which record a copy is of, and may count it as reordered though it is not.
     */
    public Comparison compare(TopicDigest target) {
        return new DigestComparer(this, target).compare();
    }

    int partitions() {
        return hashes.size();
    }

    /** The hashes of a partition in order; empty if there is no such partition. Do not write to it. */
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
