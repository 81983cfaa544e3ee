package dev.millrace.mirror;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * Tells programs that were written for MirrorMaker 2 where groups of the source would go on at the target: its {@code
 * RemoteClusterUtils.translateOffsets} reads a topic of the target, with a record for each group and partition.
 *
 * <p>Its form is fixed by {@code org.apache.kafka.connect.mirror.Checkpoint}. A string begins with its length in bytes,
 * a 16-bit number.
 *
 * <p><b>Threads:</b> one at a time.
 */
final class Mm2Checkpoints implements AutoCloseable {
    /** Its readers look into the first partition only. */
    private static final int PARTITIONS = 1;

    private static final short VERSION = 0;

    private final CompactedTopic topic;
    private final Map<ByteBuffer, byte[]> current = new HashMap<>();
    /** Without those of partitions that another process has had since, which has written others. */
    private final Map<ByteBuffer, byte[]> written = new HashMap<>();

    /** @param alias by which programs ask for the source */
    Mm2Checkpoints(String alias, Admin target, MirrorConfig config) {
        this.topic = new CompactedTopic(alias + ".checkpoints.internal", target, config);
    }

    /**
     * Says where a group goes on, to be written.
     *
     * @param partition of the target
     * @param committed at the source
     * @param translated the offset at the target
     */
    void add(String group, TopicPartition partition, OffsetAndMetadata committed, long translated) {
        current.put(key(group, partition), value(committed, translated));
    }

    /** Writes of what was added since the last call what has changed. Blocks while the target takes it. */
    void write() {
        written.keySet().retainAll(current.keySet());
        Map<ByteBuffer, byte[]> changed = new HashMap<>(current);
        changed.entrySet().removeIf(next -> Arrays.equals(next.getValue(), written.get(next.getKey())));
        current.clear();
        topic.write(changed, PARTITIONS).forEach(key -> written.put(key, changed.get(key)));
    }

    static ByteBuffer key(String group, TopicPartition partition) {
        byte[] groupBytes = group.getBytes(StandardCharsets.UTF_8);
        byte[] topicBytes = partition.topic().getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(2 * Short.BYTES + groupBytes.length + topicBytes.length + Integer.BYTES)
                .putShort((short) groupBytes.length)
                .put(groupBytes)
                .putShort((short) topicBytes.length)
                .put(topicBytes)
                .putInt(partition.partition())
                .flip();
    }

    static byte[] value(OffsetAndMetadata committed, long translated) {
        byte[] metadata = committed.metadata().getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(2 * Short.BYTES + 2 * Long.BYTES + metadata.length)
                .putShort(VERSION)
                .putLong(committed.offset())
                .putLong(translated)
                .putShort((short) metadata.length)
                .put(metadata)
                .array();
    }

    @Override
    public void close() {
        topic.close();
    }
}
