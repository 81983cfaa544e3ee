package dev.millrace.client.partitioner;

import dev.millrace.client.kafka.KafkaBridge;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.TopicImage;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Cluster;

/**
 * Chooses a record's partition: the one that the record names; else the one that the application's {@link Partitioner}
 * returns; else by the hash of the key, as the stock client does; else in turns over the topic's partitions.
 *
 * <p><b>Threads:</b> any.
 */
public final class PartitionChooser {
    /** Bytes of a record besides key, value and headers; a high estimate, so that a turn fits into a batch. */
    private static final int RECORD_OVERHEAD = 12;

    private static final int BATCH_OVERHEAD = 61;

    private final Partitioner custom;
    private final boolean ignoreKeys;
    private final int bytesPerTurn;
    private final long lingerMs;
    private final PartitionLoad load;
    private final Map<String, StickyPartitions> stickyByTopic = new ConcurrentHashMap<>();

    /** The cluster last shown; null before the first record for the application's partitioner. */
    private volatile CachedCluster shown;

    /**
     * Creates a chooser with the settings of {@code config}.
     *
     * @param custom the application's partitioner, or null
     * @param load decides which share of the records without a key each partition gets
     */
    public PartitionChooser(ProducerConfig config, Partitioner custom, PartitionLoad load) {
        this.load = load;
        this.custom = custom;
        this.ignoreKeys = config.getBoolean(ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG);
        this.bytesPerTurn = Math.max(1, config.getInt(ProducerConfig.BATCH_SIZE_CONFIG) - BATCH_OVERHEAD);
        this.lingerMs = config.getLong(ProducerConfig.LINGER_MS_CONFIG);
    }

    /**
     * Chooses the partition to append to. Must be called once per record: each call counts the record's bytes.
     *
     * @param headersSize size of the encoded headers in bytes
     * @throws IllegalArgumentException the application's partitioner chose a partition that the topic does not have
     */
    public int choose(
            ProducerRecord<?, ?> record,
            byte[] key,
            byte[] value,
            int headersSize,
            ClusterImage image,
            TopicImage topic) {
        if (record.partition() != null) {
            return record.partition();
        }
        if (custom != null) {
            return chooseByCustom(record, key, value, image, topic);
        }
        if (key != null && !ignoreKeys) {
            return KafkaBridge.partitionForKey(key, topic.partitions());
        }
        StickyPartitions sticky = stickyByTopic.get(record.topic());
        if (sticky == null) {
            sticky = stickyByTopic.computeIfAbsent(
                    record.topic(),
                    name -> new StickyPartitions(
                            load,
                            bytesPerTurn,
                            lingerMs,
                            ThreadLocalRandom.current().nextLong()));
        }
        long size = RECORD_OVERHEAD
                + (long) headersSize
                + (key == null ? 0 : key.length)
                + (value == null ? 0 : value.length);
        return sticky.next(image, topic, size);
    }

    private int chooseByCustom(
            ProducerRecord<?, ?> record, byte[] key, byte[] value, ClusterImage image, TopicImage topic) {
        CachedCluster latest = shown;
        if (latest == null || !latest.image().hasSameTopicsAs(image)) {
            latest = new CachedCluster(image, image.toCluster());
            shown = latest;
        }
        int chosen = custom.partition(record.topic(), record.key(), key, record.value(), value, latest.cluster());
        if (chosen < 0 || chosen >= topic.partitions()) {
            throw new IllegalArgumentException(
                    "The partitioner " + custom.getClass().getName() + " chose partition "
                            + chosen + " for topic " + record.topic() + ", which has partitions 0 to "
                            + (topic.partitions() - 1));
        }
        return chosen;
    }

    /** What the application's partitioner sees: all topics, since it may look at others; rebuilt when they change. */
    private record CachedCluster(ClusterImage image, Cluster cluster) {}
}
