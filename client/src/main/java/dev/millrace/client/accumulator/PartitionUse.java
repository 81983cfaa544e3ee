package dev.millrace.client.accumulator;

import dev.millrace.client.memory.BufferPool;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Counts a partition among those in use while it has records that no I/O thread has taken. It costs a write to the shared count
 * only when the first batch is opened or the last one is taken.
 *
 * <p><b>Threads:</b> any.
 * <p><b>Ordering:</b> whoever opens or takes a batch calls {@code update} afterwards, and whoever changes {@code counted} looks
 * once more. All of these words are volatile: the last of them to look sees what is true in the end, and leaves it so.
 */
final class PartitionUse {
    private static final VarHandle COUNTED;

    static {
        try {
            COUNTED = MethodHandles.lookup().findVarHandle(PartitionUse.class, "counted", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Partition partition;
    private final BufferPool pool;
    private volatile boolean counted;

    /** What is counted. */
    interface Partition {
        boolean hasRecords();
    }

    PartitionUse(Partition partition, BufferPool pool) {
        this.partition = partition;
        this.pool = pool;
    }

    /** Call it after a batch was opened or taken. */
    void update() {
        boolean has = partition.hasRecords();
        while (counted != has && COUNTED.compareAndSet(this, !has, has)) {
            pool.addPartitionsInUse(has ? 1 : -1);
            has = partition.hasRecords();
        }
    }
}
