package dev.millrace.mirror.fetch;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Bounds the bytes that are fetched and not released. A request reserves the most that its response may have. A
 * partition may keep at most half of what is free, and a quarter of the bound, so that any number of unreleased
 * partitions leaves room for the others.
 *
 * <p>The bytes of a partition are a part of its response, which stays in memory until the last of its parts is
 * released. Once a quarter of the bound is kept only for that reason, parts are copied before they are handed out.
 *
 * <p><b>Threads:</b> the fetch thread reserves and hands out, any thread releases.
 * <p><b>Ordering:</b> the fetch thread sets {@code isWaiting}, then reads {@code used}; a thread that releases lowers
 * {@code used}, then reads {@code isWaiting}. All are volatile, so one of the two sees that there is room.
 */
final class FetchMemory {
    /** Less room is not worth a request, unless the bound is small. */
    private static final int MIN_REQUEST = 64 << 10;

    private static final int MIN_PARTS = 64;

    private static final int MAX_PARTS_OF_PARTITION = 4;
    private static final int WASTE_PARTS = 4;

    private final long limit;
    private final int minRequest;
    private final Runnable onRoom;
    private final AheadMemory ahead;

    /** Bytes that are reserved, or handed out and not released. */
    private final AtomicLong used = new AtomicLong();

    private final AtomicLong handedOut = new AtomicLong();
    /** Bytes of all responses of which a part is not released. */
    private final AtomicLong kept = new AtomicLong();

    private volatile boolean isWaiting;

    /**
     * Bounds the memory to {@code limit} bytes; the thread that makes room for a waiting fetch thread runs {@code
     * onRoom}.
     */
    FetchMemory(long limit, Runnable onRoom) {
        this.limit = limit;
        this.minRequest = (int) Math.min(MIN_REQUEST, limit / MIN_PARTS);
        this.onRoom = onRoom;
        this.ahead = new AheadMemory(limit / 2, onRoom);
    }

    /** Returns the bytes that a request may ask for: at most {@code wanted}; 0 if there is no room for one. */
    int roomForRequest(int wanted) {
        long room = (limit - used.get()) / 2;
        return room < minRequest ? 0 : (int) Math.min(wanted, room);
    }

    /**
     * Returns the most that each of this many parallel requests should ask for; half of the bound is for fetched bytes.
     */
    int shareOfRequest(int requests) {
        return (int) Math.min(Integer.MAX_VALUE, Math.max(minRequest, limit / (2L * requests)));
    }

    /** Does the same as {@link #roomForRequest}; if there is no room, {@code onRoom} runs once there is. */
    int awaitRoomForRequest(int wanted) {
        int room = roomForRequest(wanted);
        if (room == 0) {
            isWaiting = true;
            room = roomForRequest(wanted);
        }
        return room;
    }

    void reserve(int bytes) {
        used.addAndGet(bytes);
    }

    void cancelReservation(int bytes) {
        used.addAndGet(-bytes);
    }

    /** Returns how much one partition may keep before fetching it stops. */
    long partitionLimit() {
        return Math.max(1, Math.min(limit / MAX_PARTS_OF_PARTITION, (limit - used.get()) / 2));
    }

    /** Returns the part for partitions that are fetched only a little ahead. */
    AheadMemory ahead() {
        return ahead;
    }

    /** Whether so much of the kept responses is released that the next parts should be copied out. */
    boolean isWasteful() {
        return kept.get() - handedOut.get() > limit / WASTE_PARTS;
    }

    private void release(int bytes) {
        used.addAndGet(-bytes);
        if (isWaiting && roomForRequest(Integer.MAX_VALUE) > 0) {
            isWaiting = false;
            onRoom.run();
        }
    }

    /** One response, whose {@code size} bytes remain in memory until all of its parts are released. */
    final class Response {
        private final int size;
        /** The number of unreleased parts; the fetch thread counts as one until it has handed out all. */
        private final AtomicInteger holders = new AtomicInteger(1);

        Response(int size) {
            this.size = size;
            kept.addAndGet(size);
        }

        void handOut(int bytes) {
            holders.incrementAndGet();
            used.addAndGet(bytes);
            handedOut.addAndGet(bytes);
        }

        void release(int bytes) {
            handedOut.addAndGet(-bytes);
            drop();
            FetchMemory.this.release(bytes);
        }

        /** The fetch thread has handed out all parts. */
        void drop() {
            if (holders.decrementAndGet() == 0) {
                kept.addAndGet(-size);
            }
        }
    }
}
