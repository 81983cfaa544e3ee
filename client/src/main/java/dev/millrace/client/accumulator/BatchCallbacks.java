package dev.millrace.client.accumulator;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * The futures with callbacks of a batch's records. Each thread adds to its own list: if all threads shared one array,
 * neighbours in the same cache line, and their marks in the garbage collector's card table, would move from core to
 * core with each record, and the record's commit would wait for them. The I/O thread sorts them once, so that callbacks
 * run in offset order. Without callbacks nothing is allocated.
 *
 * <p><b>Threads:</b> {@code add} by any writer; the rest by the I/O thread after the batch is finished.
 * <p><b>Ordering:</b> writers install lists by compare-and-set and find them by an acquire load; only its owner adds to
 * a list. The I/O thread reads all plainly: the writers' commits, and its read of the finished batch, come before.
 */
final class BatchCallbacks {
    /** The number of lists, a power of two. */
    private static final int LISTS = 64;

    /**
     * A thread that finds this many places taken by others adds to {@link #overflow}, with a compare-and-set per
     * record.
     */
    private static final int PROBES = 8;

    private static final VarHandle LIST = MethodHandles.arrayElementVarHandle(ThreadList[].class);
    private static final VarHandle LISTS_OF_BATCH;
    private static final VarHandle OVERFLOW;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            LISTS_OF_BATCH = lookup.findVarHandle(BatchCallbacks.class, "lists", ThreadList[].class);
            OVERFLOW = lookup.findVarHandle(BatchCallbacks.class, "overflow", Overflow.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile ThreadList[] lists;
    private volatile Overflow overflow;

    /** All futures in order; null until the I/O thread asks for the first. */
    private RecordFuture.WithCallback[] inOrder;

    /** A future that did not get into a list. */
    private record Overflow(RecordFuture.WithCallback future, Overflow next) {}

    /** The futures of one thread, in the order of their records. */
    private static final class ThreadList {
        private static final int FIRST_SIZE = 4;

        private final Thread owner;
        private RecordFuture.WithCallback[] futures = new RecordFuture.WithCallback[FIRST_SIZE];
        private int count;

        ThreadList(Thread owner) {
            this.owner = owner;
        }

        void add(RecordFuture.WithCallback future) {
            if (count == futures.length) {
                futures = Arrays.copyOf(futures, 2 * count);
            }
            futures[count] = future;
            count++;
        }
    }

    /** Adds the future of a record that is not committed yet. */
    void add(RecordFuture.WithCallback future) {
        ThreadList own = listOfCurrentThreadOrNull();
        if (own != null) {
            own.add(future);
            return;
        }
        Overflow seen = overflow;
        while (!OVERFLOW.compareAndSet(this, seen, new Overflow(future, seen))) {
            seen = overflow;
        }
    }

    private ThreadList listOfCurrentThreadOrNull() {
        ThreadList[] all = lists;
        if (all == null) {
            ThreadList[] fresh = new ThreadList[LISTS];
            all = LISTS_OF_BATCH.compareAndSet(this, null, fresh) ? fresh : lists;
        }
        Thread current = Thread.currentThread();
        int home = System.identityHashCode(current); // getId() could be the application's code, and throw
        for (int i = 0; i < PROBES; i++) {
            int place = (home + i) & (LISTS - 1);
            ThreadList list = (ThreadList) LIST.getAcquire(all, place);
            if (list == null) {
                ThreadList fresh = new ThreadList(current);
                ThreadList winner = (ThreadList) LIST.compareAndExchange(all, place, null, fresh);
                list = winner == null ? fresh : winner;
            }
            if (list.owner == current) {
                return list;
            }
        }
        return null;
    }

    boolean isEmpty() {
        return lists == null;
    }

    /** Returns the future; null where the caller gave no callback. */
    RecordFuture.WithCallback get(int index) {
        if (inOrder == null) {
            inOrder = sort();
        }
        return index < inOrder.length ? inOrder[index] : null;
    }

    private RecordFuture.WithCallback[] sort() {
        RecordFuture.WithCallback[] sorted = new RecordFuture.WithCallback[lastIndex() + 1];
        for (ThreadList list : lists) {
            for (int i = 0; list != null && i < list.count; i++) {
                sorted[list.futures[i].index()] = list.futures[i];
            }
        }
        for (Overflow o = overflow; o != null; o = o.next) {
            sorted[o.future.index()] = o.future;
        }
        return sorted;
    }

    /**
     * Returns the last index. Also fetches the futures, which other cores wrote, in parallel, instead of one per
     * callback.
     */
    private int lastIndex() {
        int last = -1;
        for (ThreadList list : lists) {
            for (int i = 0; list != null && i < list.count; i++) {
                last = Math.max(last, list.futures[i].index());
            }
        }
        for (Overflow o = overflow; o != null; o = o.next) {
            last = Math.max(last, o.future.index());
        }
        return last;
    }
}
