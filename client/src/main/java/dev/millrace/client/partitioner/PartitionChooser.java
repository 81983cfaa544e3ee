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
 * Chooses a record's partition: its own if it names one, else the application's {@link Partitioner}'s, else by the key's
 * hash as the stock client does, else spread over the topic.
 *
 * <p><b>Threads:</b> any.
 */
public final class PartitionChooser {
    /** What a record takes beside key, value and headers, rather more than less: a turn must not exceed a batch. */
    private static final int RECORD_OVERHEAD = 12;

    private static final int BATCH_OVERHEAD = 61;

    private final Partitioner custom;
    private final boolean ignoreKeys;
    private final int bytesPerTurn;
    private final long lingerMs;
    private final PartitionLoad load;
    private final Map<String, Shown> shownByTopic = new ConcurrentHashMap<>();
    private final Map<String, StickyPartitions> keyless = new ConcurrentHashMap<>();

    /**
     * Spreads keyless records by {@code load}.
     *
     * @param custom the application's partitioner, or null
     */
    public PartitionChooser(ProducerConfig config, Partitioner custom, PartitionLoad load) {
        this.load = load;
        this.custom = custom;
        this.ignoreKeys = config.getBoolean(ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG);
        this.bytesPerTurn = Math.max(1, config.getInt(ProducerConfig.BATCH_SIZE_CONFIG) - BATCH_OVERHEAD);
        this.lingerMs = config.getLong(ProducerConfig.LINGER_MS_CONFIG);
    }

    /**
     * The partition to append to; asked once a record.
     *
     * @param headersSize bytes
     * @throws IllegalArgumentException the application's partitioner chose one that the topic does not have
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
            return askCustom(record, key, value, image, topic);
        }
        if (key != null && !ignoreKeys) {
            return KafkaBridge.partitionForKey(key, topic.partitions());
        }
        StickyPartitions sticky = keyless.get(record.topic());
        if (sticky == null) {
            sticky = keyless.computeIfAbsent(
                    record.topic(),
                    name -> new StickyPartitions(
                            load,
                            bytesPerTurn,
                            lingerMs,
                            ThreadLocalRandom.current().nextLong()));
        }
        int size = RECORD_OVERHEAD + headersSize + (key == null ? 0 : key.length) + (value == null ? 0 : value.length);
        return sticky.next(image, topic, size);
    }

    private int askCustom(ProducerRecord<?, ?> record, byte[] key, byte[] value, ClusterImage image, TopicImage topic) {
        Shown shown = shownByTopic.get(record.topic());
        if (shown == null || shown.version() != image.version()) {
            shown = new Shown(image.version(), image.clusterOf(topic));
            shownByTopic.put(record.topic(), shown);
        }
        int chosen = custom.partition(record.topic(), record.key(), key, record.value(), value, shown.cluster());
        if (chosen < 0 || chosen >= topic.partitions()) {
            throw new IllegalArgumentException(
                    "The partitioner " + custom.getClass().getName() + " chose partition "
                            + chosen + " for topic " + record.topic() + ", which has partitions 0 to "
                            + (topic.partitions() - 1));
        }
        return chosen;
    }

    /** What the application's partitioner was last shown of a topic; made once an image. */
    private record Shown(int version, Cluster cluster) {}
}
