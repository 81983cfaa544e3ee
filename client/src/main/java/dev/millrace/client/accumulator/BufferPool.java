package dev.millrace.client.accumulator;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import org.jctools.queues.MpmcArrayQueue;

/**
 * Memory for batches, bounded by {@code buffer.memory}. Buffers of {@code batch.size} are kept for the next batch; larger
 * ones, for records that need them, are left to the garbage collector.
 *
 * <p><b>Threads:</b> any. {@code acquire} is one compare-and-set a batch while memory is at hand; otherwise the caller
 * joins {@link MemoryWaiters}, where memory is given out in the order of arrival.
 * <p><b>Ordering:</b> {@code release} adds to {@code available} and then looks for waiters; a waiter makes itself known
 * and then looks at {@code available}. Both are sequentially consistent, so no wake-up is missed.
 */
public final class BufferPool {
    /** More kept buffers than this would serve no load that a producer of any size has. */
    private static final int MAX_KEPT = 1 << 16;

    private final long total;
    private final int batchSize;
    private final AtomicLong available;
    private final MpmcArrayQueue<byte[]> kept;
    private final MemoryWaiters waiters;

    /**
     * A pool with all of its memory free.
     *
     * @param total bytes in all
     * @param batchSize bytes of the buffers that are kept
     * @param onPressure run by a thread that is about to wait, so that open batches are sent
     */
    public BufferPool(long total, int batchSize, Runnable onPressure) {
        this.total = total;
        this.batchSize = batchSize;
        this.available = new AtomicLong(total);
        this.kept = new MpmcArrayQueue<>((int) Math.max(2, Math.min(MAX_KEPT, total / Math.max(1, batchSize))));
        this.waiters = new MemoryWaiters(this::tryReserve, this::isShort, onPressure);
    }

    /**
     * A buffer of {@code size} bytes, or of {@code batch.size} if that is more.
     *
     * @param maxBlockMs how long to wait for memory, milliseconds
     * @param stillNeeded asked while waiting
     * @return null if it was no longer needed
     * @throws org.apache.kafka.clients.producer.BufferExhaustedException no memory within that time
     * @throws org.apache.kafka.common.KafkaException the pool was closed
     */
    byte[] acquire(int size, long maxBlockMs, BooleanSupplier stillNeeded) throws InterruptedException {
        int wanted = Math.max(size, batchSize);
        if ((!waiters.isEmpty() || !tryReserve(wanted)) && !waiters.await(wanted, maxBlockMs, stillNeeded)) {
            return null;
        }
        byte[] buffer = null;
        try {
            if (wanted == batchSize) {
                buffer = kept.poll();
            } else {
                dropKept(wanted);
            }
            buffer = buffer != null ? buffer : new byte[wanted];
            return buffer;
        } finally {
            if (buffer == null) { // the heap is used up: what was reserved must not stay so
                giveBack(wanted);
            }
        }
    }

    /** Gives back what {@link #acquire} returned. */
    void release(byte[] buffer) {
        release(buffer, buffer.length);
    }

    /**
     * Gives memory back.
     *
     * @param reserved how much of it; not the buffer's length if the batch was split
     */
    void release(byte[] buffer, int reserved) {
        if (buffer.length == batchSize && reserved == batchSize) {
            kept.offer(buffer);
        }
        giveBack(reserved);
    }

    /** Takes memory without a buffer, if there is some and nobody waits for it. */
    boolean reserve(int size) {
        if (!waiters.isEmpty() || !tryReserve(size)) {
            return false;
        }
        boolean dropped = true;
        while (dropped && (long) kept.size() * batchSize > available.get()) { // kept buffers count as available
            dropped = kept.poll() != null;
        }
        return true;
    }

    /** Gives back what {@link #reserve} took. */
    void unreserve(long size) {
        giveBack(size);
    }

    private void giveBack(long size) {
        available.addAndGet(size);
        if (!waiters.isEmpty()) {
            waiters.wakeFirst();
        }
    }

    private boolean tryReserve(int size) {
        long seen = available.get();
        while (seen >= size) {
            if (available.compareAndSet(seen, seen - size)) {
                return true;
            }
            seen = available.get();
        }
        return false;
    }

    /** Kept buffers count as available, so memory for a large one must come out of them. */
    private void dropKept(int size) {
        long toDrop = size;
        while (toDrop > 0 && kept.poll() != null) {
            toDrop -= batchSize;
        }
    }

    /** Tells waiting threads to ask again whether they still need memory; call it after a batch was opened. */
    void onOpened() {
        if (!waiters.isEmpty()) {
            waiters.wakeSatisfied();
        }
    }

    /** Makes all waiting threads throw, now and later. */
    public void close() {
        waiters.close();
    }

    /** Whether a thread waits for more than there is; one about to be served is no shortage. */
    boolean isShort() {
        return available.get() < waiters.firstWants();
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

    int batchSize() {
        return batchSize;
    }
}
