package dev.millrace.mirror.demo;

import dev.millrace.mirror.text.Words;
import java.util.OptionalInt;

/**
 * What the demo writes to the source.
 *
 * @param size of a record's value, in bytes
 * @param compression {@code compression.type} of all producers
 * @param batchRecords how many records each batch has, except the last of a partition; if empty, the size of a batch
 *     decides
 * @param idlePartitions how many partitions of a second topic are mirrored beside it, in which nothing happens
 */
record DemoLoad(long records, int size, String compression, OptionalInt batchRecords, int idlePartitions) {
    private static final long WARM_UP = 500_000;

    /** In batches as a producer makes them that has enough to send, and nothing beside it. */
    DemoLoad(long records, int size) {
        this(records, size, "snappy", OptionalInt.empty(), 0);
    }

    /** As much as warms up a cluster. */
    DemoLoad warmUp() {
        return new DemoLoad(Math.min(WARM_UP, records), size, compression, OptionalInt.empty(), 0);
    }

    String describe() {
        return Words.count(records, "record") + " of " + Words.count(size, "byte")
                + (batchRecords.isPresent() ? ", " + batchRecords.getAsInt() + " in a batch," : "") + " in "
                + Demo.PARTITIONS + " partitions, " + (compression.equals("none") ? "not compressed" : compression)
                + (idlePartitions > 0 ? ", beside " + Words.count(idlePartitions, "idle partition") : "");
    }
}
