package dev.millrace.mirror.demo;

import dev.millrace.mirror.Words;
import java.util.OptionalInt;

/**
 * What the demo writes to the source.
 *
 * @param size of a record's value, in bytes
 * @param batchRecords how many records each batch has, except the last of a partition; if empty, the size of a batch
 *     decides
 */
record DemoLoad(long records, int size, OptionalInt batchRecords) {
    /** In batches as a producer makes them that has enough to send. */
    DemoLoad(long records, int size) {
        this(records, size, OptionalInt.empty());
    }

    String describe() {
        return Words.count(records, "record") + " of " + Words.count(size, "byte")
                + (batchRecords.isPresent() ? ", " + batchRecords.getAsInt() + " in a batch," : "") + " in "
                + Demo.PARTITIONS + " partitions, snappy";
    }
}
