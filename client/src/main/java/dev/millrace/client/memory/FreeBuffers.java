package dev.millrace.client.memory;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/**
 * Buffers that came back, for the next batches. They are of a few sizes: {@code batch.size}, its halves, quarters and so on for
 * partitions with little traffic, and more of its quarters for batches that compression will make smaller.
 *
 * <p><b>Threads:</b> any, without a lock.
 * <p><b>Ordering:</b> {@code bytes} is raised before a buffer is put in and lowered after one is taken out: it never tells
 * less than there is.
 */
final class FreeBuffers {
    /** Smaller batches would not save anything worth the requests that they cost. */
    private static final int MIN_SIZE = 1 << 10;

    /** How much a codec may be trusted to save: a batch of at most so many times {@code batch.size} is opened. */
    private static final int MAX_FACTOR = 16;

    private static final int QUARTERS = 4;

    private final int[] sizes;
    private final List<Deque<byte[]>> queues = new ArrayList<>();
    private final AtomicLong bytes = new AtomicLong();

    /** Keeps nothing yet, and never anything larger than {@code total}. */
    FreeBuffers(long total, int batchSize) {
        IntStream halves = IntStream.iterate(batchSize / 2, size -> size >= MIN_SIZE, size -> size / 2);
        IntStream quarters = IntStream.rangeClosed(QUARTERS, MAX_FACTOR * QUARTERS)
                .mapToLong(quarter -> (long) batchSize * quarter / QUARTERS)
                .filter(size -> size == batchSize || size <= Math.min(total, Integer.MAX_VALUE))
                .mapToInt(size -> (int) size);
        this.sizes = IntStream.concat(halves, quarters).sorted().distinct().toArray();
        for (int i = 0; i < sizes.length; i++) {
            queues.add(new ConcurrentLinkedDeque<>());
        }
    }

    /** The smallest size that is kept and not less than this one; this one itself if there is none. */
    int sizeAtLeast(int size) {
        int found = Arrays.binarySearch(sizes, size);
        int next = -found - 1;
        return found >= 0 || next == sizes.length ? size : sizes[next];
    }

    /** The largest size that is kept and not more than this one, or the smallest of all. */
    int sizeAtMost(int size) {
        int found = Arrays.binarySearch(sizes, size);
        return found >= 0 ? size : sizes[Math.max(0, -found - 2)];
    }

    /** The buffer of exactly this size that came back last, the likeliest to be in a cache still; null if there is none. */
    byte[] take(int size) {
        int found = Arrays.binarySearch(sizes, size);
        return found < 0 ? null : uncount(queues.get(found).pollFirst());
    }

    private byte[] uncount(byte[] buffer) {
        if (buffer != null) {
            bytes.addAndGet(-buffer.length);
        }
        return buffer;
    }

    /** Keeps the buffer if it is of one of the sizes. */
    void add(byte[] buffer) {
        int found = Arrays.binarySearch(sizes, buffer.length);
        if (found >= 0) {
            bytes.addAndGet(buffer.length);
            queues.get(found).addFirst(buffer);
        }
    }

    /** Gives buffers to the garbage collector until at most so many bytes are kept, the largest first. */
    void shrinkTo(long maxBytes) {
        for (int i = sizes.length - 1; i >= 0 && bytes.get() > maxBytes; ) {
            if (uncount(queues.get(i).pollLast()) == null) {
                i--;
            }
        }
    }
}
