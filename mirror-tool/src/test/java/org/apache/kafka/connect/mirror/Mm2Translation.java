package org.apache.kafka.connect.mirror;

import java.util.Map;
import java.util.OptionalLong;
import org.apache.kafka.common.TopicPartition;

/** MirrorMaker 2's own translation of offsets, from the offset syncs that it finds. In its package, which keeps it to itself. */
public final class Mm2Translation implements AutoCloseable {
    private final OffsetSyncStore store;

    /** Reads the offset syncs. Blocks until it has read all. */
    public Mm2Translation(Map<String, String> connectorConfig) {
        store = new OffsetSyncStore(new MirrorCheckpointConfig(connectorConfig));
        store.start(false); // as after a start that has found its checkpoints
    }

    /** Empty if it knows nothing of the partition; -1 if the offset is before all that it knows. */
    public OptionalLong translate(TopicPartition partition, long offset) {
        return store.translateDownstream("any", partition, offset);
    }

    @Override
    public void close() {
        store.close();
    }
}
