package dev.millrace.mirror.groups;

import dev.millrace.mirror.config.InternalTopics;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.offsets.OffsetRuns;
import dev.millrace.mirror.progress.TopicIdentities;
import dev.millrace.mirror.topics.CompactedTopic;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Utils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The compacted topic of the target in which a mirror keeps where its records are: for each source partition a record
 * with its name as key, and {@link OffsetRuns} and the ids of both topics as value.
 *
 * <p><b>Threads:</b> one at a time.
 */
final class OffsetMapTopic implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(OffsetMapTopic.class);
    private static final int PARTITIONS = 4;
    private static final int UUID_BYTES = 16;

    private final CompactedTopic topic;

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

        /** Returns what is known, if both topics are still the same. Offsets of former topics mean nothing in these. */
        OffsetRuns runs(Uuid source, Uuid target) {
            boolean isOfOthers = TopicIdentities.differ(sourceId, source) || TopicIdentities.differ(targetId, target);
            return isOfOthers ? new OffsetRuns() : runs;
        }
    }

    /** @param group of the mirror */
    OffsetMapTopic(String group, Admin target, MirrorConfig config) {
        this.topic = new CompactedTopic(name(group), CompactedTopic.Home.target(target, config));
    }

    static String name(String group) {
        return InternalTopics.ofGroup(InternalTopics.OFFSET_MAP_PREFIX, group);
    }

    /** Reads what is kept of these partitions. Blocks while the target answers. */
    Map<TopicPartition, Kept> read(Predicate<TopicPartition> isWanted) {
        Map<TopicPartition, Kept> kept = new HashMap<>();
        topic.read(key -> isWanted.test(parse(key))).orElse(Map.of()).forEach((key, value) -> {
            TopicPartition partition = parse(Utils.toArray(key));
            try {
                kept.put(partition, Kept.of(value));
            } catch (BufferUnderflowException e) {
                LOG.warn("Topic {} on the target has something of {} that is not readable", topic.name(), partition);
            }
        });
        return kept;
    }

    private static ByteBuffer key(TopicPartition partition) {
        return ByteBuffer.wrap(partition.toString().getBytes(StandardCharsets.UTF_8));
    }

    private static TopicPartition parse(byte[] key) {
        String text = new String(key, StandardCharsets.UTF_8);
        int end = text.lastIndexOf('-');
        return new TopicPartition(text.substring(0, end), Integer.parseInt(text.substring(end + 1)));
    }

    /** Writes what is to be kept, and blocks while the target takes it; returns the partitions for which it has. */
    Set<TopicPartition> write(Map<TopicPartition, Kept> all) {
        Map<ByteBuffer, byte[]> values = new HashMap<>();
        all.forEach((partition, kept) -> values.put(key(partition), kept.toBytes()));
        return topic.write(values, PARTITIONS).stream()
                .map(key -> parse(Utils.toArray(key)))
                .collect(Collectors.toSet());
    }

    @Override
    public void close() {
        topic.close();
    }
}
