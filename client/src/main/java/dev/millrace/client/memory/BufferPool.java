package dev.millrace.client.memory;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;

/**
 * Memory for batches. Buffers in use and free buffers together never exceed {@code buffer.memory}.
 *
 * <p><b>Threads:</b> any. {@code acquire} is one compare-and-set per batch while there is more memory than other
 * threads wait for; otherwise the caller joins {@link MemoryWaiters}, where memory is given out in the order of
 * arrival.
 * <p><b>Ordering:</b> {@code giveBack} adds to {@code available} and then reads whether a thread waits; a waiter
 * publishes itself and then reads {@code available}. Both are sequentially consistent, so one of the two sees the
 * other. A release that sees a waiter wakes it once half of the memory is free, or more if it needs more; until then
 * the first waiter checks by itself every 10 ms.
 */
public final class BufferPool {
    /** A batch larger than {@code batch.size} takes at most 1/16 of the free memory. */
    private static final int LARGE_BATCH_DIVISOR = 16;

    /** 1/3 of the free memory is shared among the partitions in use; the rest is for the batches after the next. */
    private static final int PLANNED_DIVISOR = 3;

    /**
     * Waiting threads are woken when 1/2 of all memory is free again. If they were woken for each batch that comes
     * back, they would write only a record or two before the next wait.
     */
    private static final int WAKE_AT_FREE_DIVISOR = 2;

    /**
     * How often the first waiter checks the free memory, nanoseconds. While a broker is down, half of the memory may
     * not be free for long; then memory is given out this often.
     */
    private static final long RECHECK_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private final long total;
    private final int batchSize;
    private final AtomicLong available;
    private final AtomicInteger partitionsInUse = new AtomicInteger();
    private final FreeBuffers freeBuffers;
    private final MemoryWaiters waiters;

    /**
     * Creates a pool with all of its memory free.
     *
     * @param total bytes
     * @param batchSize bytes of a usual batch
     * @param requestEarlySend run by waiting threads when memory is short, so that open batches are sent early
     */
    public BufferPool(long total, int batchSize, Runnable requestEarlySend) {
        this.total = total;
        this.batchSize = batchSize;
        this.available = new AtomicLong(total);
        this.freeBuffers = new FreeBuffers(total, batchSize);
        this.waiters = new MemoryWaiters(size -> takeLeaving(size, 0), this::isShort, requestEarlySend, RECHECK_NS);
    }

    /**
     * Returns how many bytes to {@link #acquire} for the next batch: the largest that the batch may become, or else
     * {@code batch.size}, if the partition's fair share of the free memory allows it; otherwise what the partition's
     * last batches needed.
     *
     * @param usual bytes that the partition's last batches needed
     * @param most the largest that the batch may become, bytes
     * @param needed bytes that the batch must have at least
     */
    public int sizeFor(int usual, int most, int needed) {
        long share = fairShare();
        int largest = freeBuffers.sizeAtMost(most);
        int wanted = usual;
        if (largest <= share) {
            wanted = largest;
        } else if (batchSize <= share) {
            wanted = Math.max(wanted, batchSize);
        }
        if (wanted > batchSize && wanted <= available.get() / LARGE_BATCH_DIVISOR) {
            return Math.max(needed, freeBuffers.sizeAtMost(wanted));
        }
        return Math.max(needed, Math.min(wanted, batchSize));
    }

    /**
     * Returns how many bytes {@link #acquire} takes: the size of the smallest reusable buffers that hold {@code size}
     * bytes, or exactly {@code size} if there are none.
     */
    public int reusableSize(int size) {
        return freeBuffers.sizeAtLeast(size);
    }

    /** Returns the bytes that each partition in use, and one more, could take now. */
    private long fairShare() {
        long free = available.get() - waiters.bytesWanted();
        return free / PLANNED_DIVISOR / (partitionsInUse() + 1);
    }

    /** Returns how many partitions have a batch that no I/O thread has taken yet. */
    public int partitionsInUse() {
        return partitionsInUse.get();
    }

    /** Notes that this many more partitions have such a batch, or fewer if negative. */
    public void addPartitionsInUse(int change) {
        partitionsInUse.addAndGet(change);
    }

    /**
     * Returns a buffer of {@code size} bytes, or a little more.
     *
     * @param maxBlockMs how long to wait for memory, milliseconds
     * @param stillNeeded called while waiting
     * @return null if it was no longer needed
     * @throws org.apache.kafka.clients.producer.BufferExhaustedException no memory within that time
     * @throws org.apache.kafka.common.KafkaException the pool was closed
     */
    public byte[] acquire(int size, long maxBlockMs, BooleanSupplier stillNeeded) throws InterruptedException {
        int wanted = reusableSize(size);
        if (!tryReserveUnclaimed(wanted) && !waiters.await(wanted, maxBlockMs, stillNeeded)) {
            return null;
        }
        byte[] buffer = null;
        try {
            buffer = takeOrAllocate(wanted);
            return buffer;
        } finally {
            if (buffer == null) { // the heap is used up: return the reserved memory
                giveBack(wanted);
            }
        }
    }

    private byte[] takeOrAllocate(int size) {
        byte[] buffer = freeBuffers.take(size);
        if (buffer == null) {
            freeBuffers.shrinkTo(available.get()); // what is in freeBuffers counts as available
            buffer = new byte[size];
        }
        return buffer;
    }

    /**
     * Moves a batch that became smaller into a smaller buffer, if that gives back at least half of its memory, and
     * memory is scarce or the buffer is larger than {@code batch.size}. Needs no further memory: the smaller buffer's
     * part of it is taken from the larger one's.
     *
     * @param used how many bytes, from the start, are copied
     */
    public byte[] trim(byte[] buffer, int used) {
        int size = freeBuffers.sizeAtLeast(used);
        boolean affordable = buffer.length <= batchSize && batchSize <= fairShare();
        if (affordable || size > buffer.length / 2) {
            return buffer;
        }
        byte[] smaller = takeOrAllocate(size);
        System.arraycopy(buffer, 0, smaller, 0, used);
        freeBuffers.add(buffer);
        giveBack(buffer.length - size);
        return smaller;
    }

    /** Returns to the pool what {@link #acquire} returned. */
    public void release(byte[] buffer) {
        release(buffer, buffer.length);
    }

    /**
     * Returns memory to the pool.
     *
     * @param reserved bytes to give back; not the buffer's length if the batch was split
     */
    public void release(byte[] buffer, int reserved) {
        if (buffer.length == reserved) {
            freeBuffers.add(buffer);
        }
        giveBack(reserved);
    }

    /** Takes memory without a buffer, if there is more than other threads wait for. */
    public boolean tryReserve(int size) {
        if (!tryReserveUnclaimed(size)) {
            return false;
        }
        freeBuffers.shrinkTo(available.get());
        return true;
    }

    /** Returns to the pool what {@link #tryReserve} took. */
    public void unreserve(long size) {
        giveBack(size);
    }

    private void giveBack(long size) {
        long free = available.addAndGet(size);
        int first = waiters.bytesForFirst();
        if (first > 0 && free >= Math.max(first, total / WAKE_AT_FREE_DIVISOR)) {
            waiters.wakeFirst();
        }
    }

    /**
     * Takes memory only if the rest is enough for all waiters: joining them would only keep the queue from emptying.
     */
    private boolean tryReserveUnclaimed(int size) {
        return takeLeaving(size, waiters.bytesWanted());
    }

    private boolean takeLeaving(int size, long leave) {
        long seen = available.get();
        while (seen - size >= leave) {
            if (available.compareAndSet(seen, seen - size)) {
                return true;
            }
            seen = available.get();
        }
        return false;
    }

    /** Makes waiting threads check whether they still need memory; call it after a batch was opened. */
    public void recheckWaiters() {
        if (!waiters.isEmpty()) {
            waiters.wakeNoLongerNeeding();
        }
    }

    /** Makes all waiting threads throw, now and later. */
    public void close() {
        waiters.close();
    }

    /** Whether the first waiter needs more memory than is free; false if it is about to be served. */
    public boolean isShort() {
        return available.get() < waiters.bytesForFirst();
    }

    /** Sets the listener of how long a thread has waited for memory, nanoseconds. It must not block. */
    public void setWaitListener(LongConsumer listener) {
        waiters.setWaitListener(listener);
    }

    /** Returns how many threads wait for memory. */
    public int waitingThreads() {
        return waiters.count();
    }

    /** Returns the bytes that no batch uses. */
    public long available() {
        return available.get();
    }

    public long total() {
        return total;
    }

    public int batchSize() {
        return batchSize;
    }
}
