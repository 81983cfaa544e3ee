package dev.millrace.mirror.fetch;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Bounds the memory of partitions that {@link FetchSink#maxAhead} limits, so that any number of them leaves memory for
 * the others. When it is full, none of them is fetched until half of it is released.
 *
 * <p><b>Threads:</b> the fetch thread; any thread may call {@link #onReleased}.
 * <p><b>Ordering:</b> the fetch thread sets {@code isFull}, then reads {@code kept}; a thread that releases lowers {@code
 * kept}, then reads {@code isFull}. Both are volatile, so one of the two sees that there is room.
 */
final class AheadMemory {
    private final long limit;
    private final Runnable onRoom;
    private final AtomicLong kept = new AtomicLong();
    private volatile boolean isFull;
    private volatile boolean hasChanged;

    /** @param onRoom run by the thread that makes room after the memory was full */
    AheadMemory(long limit, Runnable onRoom) {
        this.limit = limit;
        this.onRoom = onRoom;
    }

    void onHandedOut(int bytes) {
        if (kept.addAndGet(bytes) >= limit && !isFull) {
            isFull = true;
            if (kept.get() <= limit / 2) {
                isFull = false;
            } else {
                hasChanged = true;
            }
        }
    }

    void onReleased(int bytes) {
        if (kept.addAndGet(-bytes) <= limit / 2 && isFull) {
            isFull = false;
            hasChanged = true;
            onRoom.run();
        }
    }

    boolean isFull() {
        return isFull;
    }

    /** Whether partitions must be placed again because the memory became full or no longer is; resets the answer. */
    boolean takeChange() {
        boolean taken = hasChanged;
        if (taken) {
            hasChanged = false;
        }
        return taken;
    }
}
