package dev.millrace.mirror.fetch;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Bounds what is kept of the partitions that {@link FetchSink#maxAhead} limits, so that they leave memory for all others,
 * however many they are. When it is full, none of them is fetched until half of it is released.
 *
 * <p><b>Threads:</b> the fetch thread; {@link #onReleased} by any.
 * <p><b>Ordering:</b> the fetch thread sets {@code isFull}, then reads {@code kept}; a thread that releases lowers {@code
 * kept}, then reads {@code isFull}. Both are volatile, so one of the two sees that there is room.
 */
final class AheadMemory {
    private final long limit;
    private final Runnable onRoom;
    private final AtomicLong kept = new AtomicLong();
    private volatile boolean isFull;
    private volatile boolean hasChanged;

    /** @param onRoom run by the thread that makes room, after it was full */
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

    /** Whether partitions are to be placed again, because it has become full, or no longer is. */
    boolean takeChange() {
        boolean taken = hasChanged;
        if (taken) {
            hasChanged = false;
        }
        return taken;
    }
}
