package dev.millrace.client.accumulator;

import dev.millrace.client.memory.BufferPool;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Counts a partition as in use while it has records that no I/O thread has taken. The shared count is written only when
 * the first batch is opened or the last one is taken.
 *
 * <p><b>Threads:</b> any.
 * <p><b>Ordering:</b> a thread that opens or takes a batch calls {@code update} afterwards, and a thread that changes
 * {@code counted} checks again. All of these words are volatile, so the last thread to check sees the final state, and
 * {@code counted} agrees with it.
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

    /** The partition that is counted. */
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
