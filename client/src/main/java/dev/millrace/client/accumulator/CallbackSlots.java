package dev.millrace.client.accumulator;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The callbacks of a batch by record index, so that they run in offset order. The number of records is not known in
 * advance, so it grows by segments, each as long as all before it: a batch of few records needs little memory even if
 * it has much room. Without callbacks it allocates nothing.
 *
 * <p><b>Threads:</b> each writer stores at the index that it alone has claimed; the I/O thread reads after the batch is
 * finished.
 * <p><b>Ordering:</b> segments are installed by compare-and-set and found by an acquire load. The slots themselves are
 * plain: the writer's commit, and the I/O thread's read of the finished batch, order them.
 */
final class CallbackSlots {
    private static final int FIRST_BITS = 7;
    private static final int FIRST_SIZE = 1 << FIRST_BITS;
    private static final VarHandle SEGMENT = MethodHandles.arrayElementVarHandle(RecordFuture.WithCallback[][].class);
    private static final VarHandle SEGMENTS;

    static {
        try {
            SEGMENTS = MethodHandles.lookup()
                    .findVarHandle(CallbackSlots.class, "segments", RecordFuture.WithCallback[][].class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int maxRecords;
    private volatile RecordFuture.WithCallback[][] segments;

    CallbackSlots(int maxRecords) {
        this.maxRecords = maxRecords;
    }

    void put(int index, RecordFuture.WithCallback future) {
        int number = numberOf(index);
        segment(number)[index - start(number)] = future;
    }

    boolean isEmpty() {
        return segments == null;
    }

    /** Null where the caller gave no callback. */
    RecordFuture.WithCallback get(int index) {
        int number = numberOf(index);
        RecordFuture.WithCallback[] segment = segments[number];
        return segment == null ? null : segment[index - start(number)];
    }

    private static int numberOf(int index) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(index >>> FIRST_BITS);
    }

    private static int start(int number) {
        return number == 0 ? 0 : FIRST_SIZE << (number - 1);
    }

    private RecordFuture.WithCallback[] segment(int number) {
        RecordFuture.WithCallback[][] all = segments;
        if (all == null) {
            RecordFuture.WithCallback[][] fresh = new RecordFuture.WithCallback[numberOf(maxRecords) + 1][];
            all = SEGMENTS.compareAndSet(this, null, fresh) ? fresh : segments;
        }
        RecordFuture.WithCallback[] segment = (RecordFuture.WithCallback[]) SEGMENT.getAcquire(all, number);
        if (segment == null) {
            RecordFuture.WithCallback[] fresh = new RecordFuture.WithCallback[Math.max(FIRST_SIZE, start(number))];
            RecordFuture.WithCallback[] seen =
                    (RecordFuture.WithCallback[]) SEGMENT.compareAndExchange(all, number, null, fresh);
            segment = seen == null ? fresh : seen;
        }
        return segment;
    }
}
