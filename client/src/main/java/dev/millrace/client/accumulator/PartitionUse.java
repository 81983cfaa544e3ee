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
 * {@code counted} agrees with it. The shared count is raised before {@code counted} becomes true and lowered after it
 * becomes false, so whoever reads it never reads less than the number of counted partitions, and never less than zero.
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

    /** The counted partition. It is a separate type so that the send-path test finds its implementations. */
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
        while (counted != has && (has ? count() : discount())) {
            has = partition.hasRecords();
        }
    }

    /** Returns false if another thread has just done it. */
    private boolean count() {
        pool.addPartitionsInUse(1);
        boolean changed = COUNTED.compareAndSet(this, false, true);
        if (!changed) {
            pool.addPartitionsInUse(-1);
        }
        return changed;
    }

    private boolean discount() {
        boolean changed = COUNTED.compareAndSet(this, true, false);
        if (changed) {
            pool.addPartitionsInUse(-1);
        }
        return changed;
    }
}
