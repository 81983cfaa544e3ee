package dev.millrace.mirror.mm2;

import dev.millrace.mirror.topics.CompactedTopic;
import java.nio.ByteBuffer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * Tells programs that were written for MirrorMaker 2 where groups of the source would go on at the target: its {@code
 * RemoteClusterUtils.translateOffsets} reads a topic of the target, with a record for each group and partition.
 *
 * <p>The class {@code org.apache.kafka.connect.mirror.Checkpoint} fixes the form of the records.
 *
 * <p><b>Threads:</b> one at a time.
 */
public final class Mm2Checkpoints implements AutoCloseable {
    private static final short VERSION = 0;

    private final Mm2Topic topic;

    /** @param alias by which programs ask for the source */
    public Mm2Checkpoints(String alias, CompactedTopic.Home target) {
        this.topic = new Mm2Topic(alias + ".checkpoints.internal", target);
    }

    /**
     * Adds the position at which a group goes on.
     *
     * @param partition of the target
     * @param committed at the source
     * @param translated the offset at the target
     */
    public void add(String group, TopicPartition partition, OffsetAndMetadata committed, long translated) {
        topic.add(key(group, partition), value(committed, translated));
    }

    /** Writes the changes among what was added since the last call. Blocks while the target takes it. */
    public void write() {
        topic.write();
    }

    static ByteBuffer key(String group, TopicPartition partition) {
        return Mm2Topic.key(partition, group);
    }

    static byte[] value(OffsetAndMetadata committed, long translated) {
        String metadata = committed.metadata();
        ByteBuffer value = ByteBuffer.allocate(Short.BYTES + 2 * Long.BYTES + Mm2Topic.sizeOf(metadata))
                .putShort(VERSION)
                .putLong(committed.offset())
                .putLong(translated);
        Mm2Topic.put(metadata, value);
        return value.array();
    }

    @Override
    public void close() {
        topic.close();
    }
}
