package dev.millrace.client.memory;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;

/**
 * Memory for batches, bounded by {@code buffer.memory}: what is in use and what is kept for the next batches is never
 * more.
 *
 * <p><b>Threads:</b> any. {@code acquire} is one compare-and-set a batch while there is memory beyond what others wait for;
 * otherwise the caller joins {@link MemoryWaiters}, where memory is given out in the order of arrival.
 * <p><b>Ordering:</b> {@code release} adds to {@code available} and then looks for waiters; a waiter makes itself known
 * and then looks at {@code available}. Both are sequentially consistent, so no wake-up is missed. While less than half
 * is free nobody is woken, and the first waiter looks by itself from time to time.
 */
public final class BufferPool {
    /** A batch larger than {@code batch.size} gets at most such a part of what is free: it is an expense of the rich. */
    private static final int LARGE_BATCH_SHARE = 16;

    /** Memory is plentiful while such a part of what is free is enough for all; the rest is for the batches after the next. */
    private static final int PLANNED_SHARE = 2;

    /**
     * Once memory is used up, waiting threads are woken when this part of all memory is free again: woken for each batch that
     * comes back, they would write a record or two before the next wait.
     */
    private static final int WAKE_AT_FREE_SHARE = 2;

    /** What else is in use may not come back for long, if its broker is gone: then memory is given out this often. */
    private static final long RECHECK_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private final long total;
    private final int batchSize;
    private final AtomicLong available;
    private final AtomicInteger partitionsInUse = new AtomicInteger();
    private final FreeBuffers freeBuffers;
    private final MemoryWaiters waiters;

    /**
     * A pool with all of its memory free.
     *
     * @param total bytes in all
     * @param batchSize bytes of a usual batch
     * @param onPressure run by a thread that is about to wait, so that open batches are sent
     */
    public BufferPool(long total, int batchSize, Runnable onPressure) {
        this.total = total;
        this.batchSize = batchSize;
        this.available = new AtomicLong(total);
        this.freeBuffers = new FreeBuffers(total, batchSize);
        this.waiters = new MemoryWaiters(size -> takeLeaving(size, 0), this::isShort, onPressure, RECHECK_NS);
    }

    /**
     * How large a buffer to ask for. While memory is plentiful, so large as the batch may become, or at least
     * {@code batch.size}; otherwise as the partition's last batches suggest.
     *
     * @param usual what the partition's last batches needed, bytes
     * @param most what the batch may become, bytes
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
        if (wanted > batchSize && wanted <= available.get() / LARGE_BATCH_SHARE) {
            return Math.max(needed, freeBuffers.sizeAtMost(wanted));
        }
        return Math.max(needed, freeBuffers.sizeAtLeast(Math.min(wanted, batchSize)));
    }

    /** What the partitions in use, and one more, could each have now. */
    private long fairShare() {
        long free = available.get() - waiters.bytesWanted();
        return free / PLANNED_SHARE / (partitionsInUse() + 1);
    }

    /** How many partitions have a batch that no I/O thread has taken yet. */
    public int partitionsInUse() {
        return partitionsInUse.get();
    }

    /** Tells of partitions that have such a batch again, or have none any more. */
    public void addPartitionsInUse(int change) {
        partitionsInUse.addAndGet(change);
    }

    /**
     * A buffer of {@code size} bytes, or a little more.
     *
     * @param maxBlockMs how long to wait for memory, milliseconds
     * @param stillNeeded asked while waiting
     * @return null if it was no longer needed
     * @throws org.apache.kafka.clients.producer.BufferExhaustedException no memory within that time
     * @throws org.apache.kafka.common.KafkaException the pool was closed
     */
    public byte[] acquire(int size, long maxBlockMs, BooleanSupplier stillNeeded) throws InterruptedException {
        int wanted = size < batchSize ? freeBuffers.sizeAtLeast(size) : size;
        if (!tryReserveUnclaimed(wanted) && !waiters.await(wanted, maxBlockMs, stillNeeded)) {
            return null;
        }
        byte[] buffer = null;
        try {
            buffer = takeOrAllocate(wanted);
            return buffer;
        } finally {
            if (buffer == null) { // the heap is used up: what was reserved must not stay so
                giveBack(wanted);
            }
        }
    }

    private byte[] takeOrAllocate(int size) {
        byte[] buffer = freeBuffers.take(size);
        if (buffer == null) {
            freeBuffers.shrinkTo(available.get()); // what is freeBuffers counts as available
            buffer = new byte[size];
        }
        return buffer;
    }

    /**
     * Moves what became small into a smaller buffer, if that gives at least half of the memory back and memory is scarce, or the
     * buffer larger than {@code batch.size}. It needs no memory that is not there: the smaller one takes its room from the larger.
     *
     * @param used how many bytes, from the start, are to be kept
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

    /** Gives back what {@link #acquire} returned. */
    public void release(byte[] buffer) {
        release(buffer, buffer.length);
    }

    /**
     * Gives memory back.
     *
     * @param reserved how much of it; not the buffer's length if the batch was split
     */
    public void release(byte[] buffer, int reserved) {
        if (buffer.length == reserved) {
            freeBuffers.add(buffer);
        }
        giveBack(reserved);
    }

    /** Takes memory without a buffer, if there is some that nobody waits for. */
    public boolean tryReserve(int size) {
        if (!tryReserveUnclaimed(size)) {
            return false;
        }
        freeBuffers.shrinkTo(available.get());
        return true;
    }

    /** Gives back what {@link #tryReserve} took. */
    public void unreserve(long size) {
        giveBack(size);
    }

    private void giveBack(long size) {
        long free = available.addAndGet(size);
        int first = waiters.firstWanted();
        if (first > 0 && free >= Math.max(first, total / WAKE_AT_FREE_SHARE)) {
            waiters.wakeFirst();
        }
    }

    /** What is left is enough for all who wait: to queue up behind them would only make the queue last for ever. */
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

    /** Tells waiting threads to ask again whether they still need memory; call it after a batch was opened. */
    public void onOpened() {
        if (!waiters.isEmpty()) {
            waiters.wakeSatisfied();
        }
    }

    /** Makes all waiting threads throw, now and later. */
    public void close() {
        waiters.close();
    }

    /** Whether a thread waits for more than there is; one about to be served is no shortage. */
    public boolean isShort() {
        return available.get() < waiters.firstWanted();
    }

    /** Sets what is told how long a thread has waited for memory, nanoseconds; it must not block. */
    public void onWaited(LongConsumer listener) {
        waiters.onWaited(listener);
    }

    /** How many threads wait for memory. */
    public int waitingThreads() {
        return waiters.count();
    }

    /** Bytes; what is not in use by a batch. */
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
