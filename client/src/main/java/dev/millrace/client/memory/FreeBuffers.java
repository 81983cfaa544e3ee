package dev.millrace.client.memory;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Free buffers for the next batches. They come in a few sizes: {@code batch.size}; 1/2, 1/4, … of it for partitions
 * with little traffic; and 5/4, 6/4, … of it for batches that compression will make smaller.
 *
 * <p><b>Threads:</b> any, without a lock.
 * <p><b>Ordering:</b> {@code bytes} is increased before a buffer is added and decreased after one is taken, so it is
 * never less than the bytes in the queues.
 */
final class FreeBuffers {
    /** The smallest size: the memory that smaller buffers would save is not worth the additional requests. */
    private static final int MIN_SIZE = 1 << 10;

    /** A batch may have at most 16 times {@code batch.size} before compression. */
    private static final int MAX_FACTOR = 16;

    private static final int QUARTERS = 4;

    private final int[] sizes;
    private final List<Deque<byte[]>> queues = new ArrayList<>();
    private final AtomicLong bytes = new AtomicLong();

    /** Creates an empty set, whose buffers will be no larger than {@code total}. */
    FreeBuffers(long total, int batchSize) {
        SortedSet<Integer> sorted = new TreeSet<>();
        for (int size = batchSize / 2; size >= MIN_SIZE; size /= 2) {
            sorted.add(size);
        }
        sorted.add(batchSize);
        for (int quarters = QUARTERS + 1; quarters <= MAX_FACTOR * QUARTERS; quarters++) {
            long size = (long) batchSize * quarters / QUARTERS;
            if (size <= Math.min(total, Integer.MAX_VALUE)) {
                sorted.add((int) size);
            }
        }
        this.sizes = new int[sorted.size()];
        for (int size : sorted) {
            sizes[queues.size()] = size;
            queues.add(new ConcurrentLinkedDeque<>());
        }
    }

    /** Returns the smallest of the sizes that is not less than this one; this one itself if there is none. */
    int sizeAtLeast(int size) {
        int found = Arrays.binarySearch(sizes, size);
        int next = -found - 1;
        return found >= 0 || next == sizes.length ? size : sizes[next];
    }

    /** Returns the largest of the sizes that is not more than this one; the smallest of all if there is none. */
    int sizeAtMost(int size) {
        int found = Arrays.binarySearch(sizes, size);
        return found >= 0 ? size : sizes[Math.max(0, -found - 2)];
    }

    /** Takes the buffer of exactly this size that came back last and is most likely cached; null if there is none. */
    byte[] take(int size) {
        int found = Arrays.binarySearch(sizes, size);
        return found < 0 ? null : subtracted(queues.get(found).pollFirst());
    }

    private byte[] subtracted(byte[] buffer) {
        if (buffer != null) {
            bytes.addAndGet(-buffer.length);
        }
        return buffer;
    }

    /** Keeps the buffer if it has one of the sizes and there is memory to list it; otherwise it is garbage. */
    void add(byte[] buffer) {
        int found = Arrays.binarySearch(sizes, buffer.length);
        if (found >= 0) {
            bytes.addAndGet(buffer.length);
            try {
                queues.get(found).addFirst(buffer);
            } catch (OutOfMemoryError e) {
                bytes.addAndGet(-buffer.length);
            }
        }
    }

    /** Drops buffers, the largest first, until at most this many bytes are left. */
    void shrinkTo(long maxBytes) {
        for (int i = sizes.length - 1; i >= 0 && bytes.get() > maxBytes; ) {
            if (subtracted(queues.get(i).pollLast()) == null) {
                i--;
            }
        }
    }
}
