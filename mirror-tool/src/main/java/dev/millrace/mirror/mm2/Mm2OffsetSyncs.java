package dev.millrace.mirror.mm2;

import dev.millrace.mirror.offsets.OffsetRuns;
import dev.millrace.mirror.topics.CompactedTopic;
import java.nio.ByteBuffer;
import org.apache.kafka.common.TopicPartition;

/**
 * Tells MirrorMaker 2 where records are at the target, in the topic from which it translates the offsets of groups: for
 * each source partition the offsets of one record in both clusters. MirrorMaker 2 assumes that the records after this
 * one are after it at the target, too.
 *
 * <p>The class {@code org.apache.kafka.connect.mirror.OffsetSync} fixes the form of the records.
 *
 * <p><b>Threads:</b> one at a time.
 */
public final class Mm2OffsetSyncs implements AutoCloseable {
    private final Mm2Topic topic;

    /** @param alias what MirrorMaker 2 calls the other cluster */
    public Mm2OffsetSyncs(String alias, CompactedTopic.Home home) {
        this.topic = new Mm2Topic("mm2-offset-syncs." + alias + ".internal", home);
    }

    /** Adds the offsets of the last record of a source partition. */
    public void add(TopicPartition partition, OffsetRuns.Copy last) {
        topic.add(Mm2Topic.key(partition), value(last));
    }

    /** Writes the changes among what was added since the last call. Blocks while the cluster takes it. */
    public void write() {
        topic.write();
    }

    static byte[] value(OffsetRuns.Copy copy) {
        return ByteBuffer.allocate(2 * Long.BYTES)
                .putLong(copy.source())
                .putLong(copy.target())
                .array();
    }

    @Override
    public void close() {
        topic.close();
    }
}
