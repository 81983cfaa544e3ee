package dev.millrace.mirror;

import dev.millrace.mirror.offsets.OffsetRuns;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The compacted topic of the target in which a mirror keeps where its records are: for each source partition a record
 * with its name as key, and {@link OffsetRuns} and the ids of both topics as value.
 *
 * <p><b>Threads:</b> one at a time.
 */
final class OffsetMapTopic implements AutoCloseable {
    /** Topics with such names are never mirrored. */
    static final String PREFIX = "millrace-offsets.";

    private static final Logger LOG = LoggerFactory.getLogger(OffsetMapTopic.class);
    private static final String SUFFIX = ".internal";
    private static final int PARTITIONS = 4;
    private static final int UUID_BYTES = 16;
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);
    private static final Map<String, String> SETTINGS = Map.of(
            TopicConfig.CLEANUP_POLICY_CONFIG,
            TopicConfig.CLEANUP_POLICY_COMPACT,
            // What is read at a start is at most what is not compacted yet.
            TopicConfig.SEGMENT_BYTES_CONFIG,
            Integer.toString(16 << 20));

    private final String name;
    private final Admin target;
    private final MirrorConfig config;
    private Producer<byte[], byte[]> producerOrNull;
    private boolean exists;

    /**
     * What is kept of a partition.
     *
     * @param sourceId of the source's topic; zero if unknown
     * @param targetId of the target's topic; zero if unknown
     */
    record Kept(Uuid sourceId, OffsetRuns runs, Uuid targetId) {
        private byte[] toBytes() {
            byte[] known = runs.toBytes();
            ByteBuffer bytes = ByteBuffer.allocate(2 * UUID_BYTES + known.length);
            write(sourceId, bytes);
            write(targetId, bytes.put(known));
            return bytes.array();
        }

        private static Kept of(byte[] value) {
            ByteBuffer bytes = ByteBuffer.wrap(value);
            return new Kept(readId(bytes), OffsetRuns.read(bytes), readId(bytes));
        }

        private static void write(Uuid id, ByteBuffer bytes) {
            bytes.putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
        }

        private static Uuid readId(ByteBuffer bytes) {
            return new Uuid(bytes.getLong(), bytes.getLong());
        }

        /** What is known, if both topics still are the same. What was known of others means nothing in these. */
        OffsetRuns runs(Uuid source, Uuid target) {
            boolean isOfOthers = TopicIdentities.differ(sourceId, source) || TopicIdentities.differ(targetId, target);
            return isOfOthers ? new OffsetRuns() : runs;
        }
    }

    /** @param group of the mirror */
    OffsetMapTopic(String group, Admin target, MirrorConfig config) {
        this.name = name(group);
        this.target = target;
        this.config = config;
    }

    /** Names of topics have fewer characters to choose from than those of groups. */
    static String name(String group) {
        String legal = group.replaceAll("[^a-zA-Z0-9._-]", "_");
        return PREFIX + (legal.equals(group) ? group : legal + "-" + Integer.toHexString(group.hashCode())) + SUFFIX;
    }

    /** Reads what is kept of these partitions. Blocks while the target answers. */
    Map<TopicPartition, Kept> read(Predicate<TopicPartition> isWanted) {
        Map<TopicPartition, byte[]> last = new HashMap<>();
        var description = Clusters.describe(target, Set.of(name)).get(name);
        if (description != null) {
            exists = true;
            List<TopicPartition> partitions = description.partitions().stream()
                    .map(partition -> new TopicPartition(name, partition.partition()))
                    .toList();
            KafkaConsumer<byte[], byte[]> reader = CopyCheck.createReader(config.producer(), "read_uncommitted");
            try {
                read(reader, partitions, isWanted, last);
            } finally {
                reader.close(CloseOptions.timeout(CLOSE_TIMEOUT));
            }
        }
        Map<TopicPartition, Kept> kept = new HashMap<>();
        last.forEach((partition, value) -> {
            try {
                kept.put(partition, Kept.of(value));
            } catch (BufferUnderflowException e) {
                LOG.warn("Topic {} on the target has something of {} that is not readable", name, partition);
            }
        });
        return kept;
    }

    /** All partitions of the topic at once, up to their present ends. */
    private void read(
            KafkaConsumer<byte[], byte[]> reader,
            List<TopicPartition> partitions,
            Predicate<TopicPartition> isWanted,
            Map<TopicPartition, byte[]> last) {
        long start = System.nanoTime();
        reader.assign(partitions);
        reader.seekToBeginning(partitions);
        Map<TopicPartition, Long> ends = reader.endOffsets(partitions);
        while (partitions.stream().anyMatch(partition -> reader.position(partition) < ends.get(partition))) {
            if (System.nanoTime() - start > PATIENCE.toNanos()) {
                throw new TimeoutException("Topic " + name + " on the target cannot be read in time");
            }
            for (ConsumerRecord<byte[], byte[]> record : reader.poll(POLL)) {
                TopicPartition partition = parse(record.key());
                if (isWanted.test(partition) && record.value() != null) {
                    last.put(partition, record.value());
                }
            }
        }
    }

    private static byte[] key(TopicPartition partition) {
        return partition.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static TopicPartition parse(byte[] key) {
        String text = new String(key, StandardCharsets.UTF_8);
        int end = text.lastIndexOf('-');
        return new TopicPartition(text.substring(0, end), Integer.parseInt(text.substring(end + 1)));
    }

    /**
     * Writes what is to be kept; returns the partitions of which the target has taken it. Blocks while the target takes
     * it.
     */
    Set<TopicPartition> write(Map<TopicPartition, Kept> all) {
        if (all.isEmpty()) {
            return Set.of();
        }
        ensureExists();
        Map<TopicPartition, Future<?>> sent = new HashMap<>();
        all.forEach((partition, kept) ->
                sent.put(partition, producer().send(new ProducerRecord<>(name, key(partition), kept.toBytes()))));
        List<TopicPartition> written = new ArrayList<>();
        sent.forEach((partition, result) -> {
            try {
                result.get();
                written.add(partition);
            } catch (InterruptedException e) {
                throw new InterruptException(e);
            } catch (ExecutionException e) {
                LOG.warn("Could not write to topic {}: {}", name, MirrorException.reason(e.getCause()));
            }
        });
        return Set.copyOf(written);
    }

    private void ensureExists() {
        if (exists || Clusters.describe(target, Set.of(name)).containsKey(name)) {
            exists = true;
            return;
        }
        try {
            new TopicCreator(target).create(name, PARTITIONS, SETTINGS);
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof TopicExistsException)) { // else another process was faster
                throw MirrorException.failed("Could not create topic " + name + " on the target", e.getCause());
            }
        }
        exists = true;
    }

    /** Of its own: the mirror's gives its partitions numbers. */
    private Producer<byte[], byte[]> producer() {
        if (producerOrNull == null) {
            Map<String, Object> own = new HashMap<>(config.producer());
            own.computeIfPresent(ProducerConfig.CLIENT_ID_CONFIG, (key, id) -> id + "-offsets");
            own.put(ProducerConfig.LINGER_MS_CONFIG, 0);
            own.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, (int) PATIENCE.toMillis());
            own.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, (int) REQUEST_TIMEOUT.toMillis());
            producerOrNull = config.producerKind().create(own);
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
