package dev.millrace.client.accumulator;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * The callbacks of a batch's records, each with what its {@link RecordMetadata} needs. Each thread adds to its own
 * list: if all threads shared one array, neighbours in the same cache line, and their marks in the garbage collector's
 * card table, would move from core to core with each record, and the record's commit would wait for them. Numbers are in
 * arrays and not in the records' futures, so that futures die young, and the I/O thread reads many of them per cache
 * line. Without callbacks nothing is allocated.
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

    /** A place is the number of a chunk, then the position in that chunk in so many bits. */
    private static final int POSITION_BITS = 4;

    private static final int NONE = -1;

    private static final VarHandle LIST = MethodHandles.arrayElementVarHandle(CallbackList[].class);
    private static final VarHandle LISTS_OF_BATCH;
    private static final VarHandle OVERFLOW;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            LISTS_OF_BATCH = lookup.findVarHandle(BatchCallbacks.class, "lists", CallbackList[].class);
            OVERFLOW = lookup.findVarHandle(BatchCallbacks.class, "overflow", Chunk.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile CallbackList[] lists;

    /** The newest of the callbacks that did not get into a list, each in a chunk of its own. */
    private volatile Chunk overflow;

    /** All chunks; null until the I/O thread asks for the first callback. */
    private Chunk[] chunks;

    /** By the index of a record: its place, or {@link #NONE}. */
    private int[] places;

    /** The callbacks of one thread. */
    private static final class CallbackList {
        private final Thread owner;
        private Chunk newest = new Chunk(Chunk.FIRST_SIZE, null);

        CallbackList(Thread owner) {
            this.owner = owner;
        }

        void add(int index, EncodableRecord record, Callback callback) {
            if (newest.isFull()) {
                newest = new Chunk(Chunk.SIZE, newest);
            }
            newest.add(index, record, callback);
        }
    }

    /** Some callbacks, and those added before. It never grows, so nothing is copied. */
    private static final class Chunk {
        private static final int FIRST_SIZE = 4;
        private static final int SIZE = 1 << POSITION_BITS;

        /** Of each record: its index, its timestamp, and the sizes of its key and value as two halves. */
        private static final int NUMBERS = 3;

        private final Callback[] callbacks;
        private final long[] numbers;
        private final Chunk previous;
        private int count;

        Chunk(int size, Chunk previous) {
            this.callbacks = new Callback[size];
            this.numbers = new long[NUMBERS * size];
            this.previous = previous;
        }

        boolean isFull() {
            return count == callbacks.length;
        }

        void add(int index, EncodableRecord record, Callback callback) {
            int at = NUMBERS * count;
            numbers[at] = index;
            numbers[at + 1] = record.timestamp();
            numbers[at + 2] = ((long) record.keySize() << Integer.SIZE) | (record.valueSize() & 0xFFFF_FFFFL);
            callbacks[count] = callback;
            count++;
        }

        private int index(int position) {
            return (int) numbers[NUMBERS * position];
        }

        int lastIndex() {
            int last = -1;
            for (int i = 0; i < count; i++) {
                last = Math.max(last, index(i));
            }
            return last;
        }

        /** Notes the place of each callback; this chunk has the number {@code number}. */
        void enterInto(int[] places, int number) {
            for (int i = 0; i < count; i++) {
                places[index(i)] = (number << POSITION_BITS) | i;
            }
        }

        RecordMetadata metadata(int position, BatchResult result, int index) {
            int at = NUMBERS * position;
            return result.metadata(
                    index, numbers[at + 1], (int) (numbers[at + 2] >> Integer.SIZE), (int) numbers[at + 2]);
        }
    }

    /** Adds the callback of a record that is not committed yet. */
    void add(int index, EncodableRecord record, Callback callback) {
        CallbackList own = listOfCurrentThreadOrNull();
        if (own != null) {
            own.add(index, record, callback);
            return;
        }
        Chunk seen;
        Chunk fresh;
        do {
            seen = overflow;
            fresh = new Chunk(1, seen);
            fresh.add(index, record, callback);
        } while (!OVERFLOW.compareAndSet(this, seen, fresh));
    }

    private CallbackList listOfCurrentThreadOrNull() {
        CallbackList[] all = lists;
        if (all == null) {
            CallbackList[] fresh = new CallbackList[LISTS];
            all = LISTS_OF_BATCH.compareAndSet(this, null, fresh) ? fresh : lists;
        }
        Thread current = Thread.currentThread();
        int home = System.identityHashCode(current); // getId() could be the application's code, and throw
        for (int i = 0; i < PROBES; i++) {
            int place = (home + i) & (LISTS - 1);
            CallbackList list = (CallbackList) LIST.getAcquire(all, place);
            if (list == null) {
                CallbackList fresh = new CallbackList(current);
                CallbackList winner = (CallbackList) LIST.compareAndExchange(all, place, null, fresh);
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

    /** Returns the callback of the record with this index; null where the caller gave none. */
    Callback callback(int record) {
        if (places == null) {
            sort();
        }
        int place = record < places.length ? places[record] : NONE;
        return place == NONE ? null : chunk(place).callbacks[position(place)];
    }

    /**
     * Returns the metadata of a record that has a callback.
     *
     * @param result of the last batch that contained the record
     * @param index its index there
     */
    RecordMetadata metadata(int record, BatchResult result, int index) {
        int place = places[record];
        return chunk(place).metadata(position(place), result, index);
    }

    private Chunk chunk(int place) {
        return chunks[place >> POSITION_BITS];
    }

    private static int position(int place) {
        return place & ((1 << POSITION_BITS) - 1);
    }

    /** Also fetches the numbers, which other cores wrote, in parallel, instead of record by record. */
    private void sort() {
        List<Chunk> all = new ArrayList<>();
        for (CallbackList list : lists) {
            addChunks(list == null ? null : list.newest, all);
        }
        addChunks(overflow, all);
        int last = -1;
        for (Chunk chunk : all) {
            last = Math.max(last, chunk.lastIndex());
        }
        int[] sorted = new int[last + 1];
        Arrays.fill(sorted, NONE);
        for (int i = 0; i < all.size(); i++) {
            all.get(i).enterInto(sorted, i);
        }
        chunks = all.toArray(Chunk[]::new);
        places = sorted; // at the end, so that all is repeated if memory was lacking
    }

    private static void addChunks(Chunk newestOrNull, List<Chunk> all) {
        for (Chunk c = newestOrNull; c != null; c = c.previous) {
            all.add(c);
        }
    }
}
