package dev.millrace.mirror.topics;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.ClusterRole;
import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.text.MirrorException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.utils.Utils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A compacted topic on one of the clusters, which keeps the last value of each key.
 *
 * <p><b>Threads:</b> one at a time.
 */
public final class CompactedTopic implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CompactedTopic.class);
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    /** A partition without a leader must not delay the others for long; the caller writes the value again later. */
    private static final Duration WRITE_PATIENCE = Duration.ofSeconds(5);

    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);
    private static final Map<String, String> SETTINGS = Map.of(
            TopicConfig.CLEANUP_POLICY_CONFIG,
            TopicConfig.CLEANUP_POLICY_COMPACT,
            // Small segments limit what is not compacted yet and must be read at a start.
            TopicConfig.SEGMENT_BYTES_CONFIG,
            Integer.toString(16 << 20));

    private final String name;
    private final Home home;
    private Producer<byte[], byte[]> producerOrNull;
    /** May be out of date: a failed write may mean that somebody has deleted the topic. */
    private volatile boolean exists;

    /**
     * The cluster that has the topic.
     *
     * @param client configuration of a producer there
     */
    public record Home(ClusterRole role, Admin admin, Map<String, Object> client, ProducerKind producerKind) {
        public static Home source(Admin source, MirrorConfig config) {
            return new Home(
                    ClusterRole.SOURCE,
                    source,
                    DerivedConfigs.sourceProducer(config.consumer()),
                    config.producerKind());
        }

        public static Home target(Admin target, MirrorConfig config) {
            return new Home(ClusterRole.TARGET, target, config.producer(), config.producerKind());
        }
    }

    public CompactedTopic(String name, Home home) {
        this.name = name;
        this.home = home;
    }

    public String name() {
        return name;
    }

    /**
     * The last value of each of these keys; empty if the cluster does not have the topic. Blocks while it
     * answers, for about 30 s at most.
     */
    public Optional<Map<ByteBuffer, byte[]>> read(Predicate<byte[]> isWanted) {
        var description = Clusters.describe(home.admin, Set.of(name)).get(name);
        exists = description != null;
        if (!exists) {
            return Optional.empty();
        }
        List<TopicPartition> partitions =
                Clusters.partitions(name, description.partitions().size());
        KafkaConsumer<byte[], byte[]> reader = Clusters.createReader(home.client);
        try {
            return Optional.of(read(reader, partitions, isWanted));
        } finally {
            reader.close(CloseOptions.timeout(CLOSE_TIMEOUT));
        }
    }

    /** Reads all partitions of the topic up to their present ends. */
    private Map<ByteBuffer, byte[]> read(
            KafkaConsumer<byte[], byte[]> reader, List<TopicPartition> partitions, Predicate<byte[]> isWanted) {
        Map<ByteBuffer, byte[]> last = new HashMap<>();
        long start = System.nanoTime();
        reader.assign(partitions);
        reader.seekToBeginning(partitions);
        Map<TopicPartition, Long> ends = reader.endOffsets(partitions);
        while (partitions.stream().anyMatch(partition -> reader.position(partition) < ends.get(partition))) {
            if (System.nanoTime() - start > PATIENCE.toNanos()) {
                throw new TimeoutException("Topic " + name + " on the " + home.role + " cannot be read in time");
            }
            for (ConsumerRecord<byte[], byte[]> record : reader.poll(POLL)) {
                if (record.key() == null || !isWanted.test(record.key())) {
                    continue;
                }
                if (record.value() == null) {
                    last.remove(ByteBuffer.wrap(record.key()));
                } else {
                    last.put(ByteBuffer.wrap(record.key()), record.value());
                }
            }
        }
        return last;
    }

    /**
     * Writes values and returns the keys whose values the cluster has taken; null deletes one. Creates the topic with this many
     * partitions if it is missing. Blocks until the cluster has taken them: for 5 s if a partition has no leader that
     * answers.
     */
    public Set<ByteBuffer> write(Map<ByteBuffer, byte[]> values, int partitions) {
        if (values.isEmpty()) {
            return Set.of();
        }
        create(partitions);
        Map<ByteBuffer, Future<?>> sent = new HashMap<>();
        for (Map.Entry<ByteBuffer, byte[]> next : values.entrySet()) {
            if (!exists) {
                break; // each further send would block for max.block.ms
            }
            ProducerRecord<byte[], byte[]> record =
                    new ProducerRecord<>(name, Utils.toArray(next.getKey()), next.getValue());
            sent.put(next.getKey(), producer().send(record, (metadata, failure) -> {
                if (failure != null) {
                    exists = false;
                }
            }));
        }
        Set<ByteBuffer> written = new HashSet<>();
        sent.forEach((key, result) -> {
            try {
                result.get();
                written.add(key);
            } catch (InterruptedException e) {
                throw new InterruptException(e);
            } catch (ExecutionException e) {
                LOG.warn(
                        "Could not write to topic {} on the {}: {}",
                        name,
                        home.role,
                        MirrorException.reason(e.getCause()));
            }
        });
        return written;
    }

    /** Creates the topic with this many partitions if it is missing. Blocks until the cluster has it. */
    public void create(int partitions) {
        if (exists || Clusters.describe(home.admin, Set.of(name)).containsKey(name)) {
            exists = true;
            return;
        }
        try {
            new TopicCreator(home.admin).create(name, partitions, SETTINGS);
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof TopicExistsException)) { // otherwise another process was first
                throw MirrorException.failed("Could not create topic " + name + " on the " + home.role, e.getCause());
            }
        }
        exists = true;
    }

    /** Opens a separate producer: the mirror's sets producer id, epoch and sequences itself. */
    private Producer<byte[], byte[]> producer() {
        if (producerOrNull == null) {
            Map<String, Object> own = new HashMap<>(home.client);
            own.computeIfPresent(ProducerConfig.CLIENT_ID_CONFIG, (key, id) -> id + "-offsets");
            own.put(ProducerConfig.LINGER_MS_CONFIG, 0);
            own.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, (int) WRITE_PATIENCE.toMillis());
            own.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, (int) WRITE_PATIENCE.toMillis());
            producerOrNull = home.producerKind.create(own);
        }
        return producerOrNull;
    }

    @Override
    public void close() {
        if (producerOrNull != null) {
            producerOrNull.close(CLOSE_TIMEOUT);
        }
    }
}
