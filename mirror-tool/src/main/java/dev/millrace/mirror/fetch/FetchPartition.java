package dev.millrace.mirror.fetch;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * One assigned partition: where and from which offset it is fetched, and how much of it is handed out. A partition that
 * is assigned again is a new object.
 *
 * <p><b>Threads:</b> the fetch thread; any thread may call {@link #onReleased} and the methods that say so.
 * <p><b>Ordering:</b> to pause, the fetch thread sets {@code paused}, then reads {@code outstanding}; a thread that
 * releases lowers {@code outstanding}, then reads {@code paused}. Both are volatile, so at least one of the two sees
 * that the partition must be resumed. Both may resume it; it is then visited once more, which is harmless.
 */
final class FetchPartition {
    static final int NONE = -1;

    private final TopicPartition topicPartition;
    private final Consumer<FetchPartition> onResume;

    /** What keeps the partition from being fetched, other than its leader and its pace. */
    enum Phase {
        FETCH,
        /** A new leader must be asked whether its log still has the position. */
        CHECK,
        /** The position must be moved. */
        RESET,
        /** The partition is stopped until it is assigned again. */
        STOPPED
    }

    /** What is asked of the leader while the position must be moved. */
    enum ResetTo {
        /**
         * Whether the position is before the log: then the partition continues where that begins, whatever the policy.
         */
        FIRST_RECORD,
        /** Where the policy says, because the position is not before the log. */
        POLICY,
        /** The end of the log, because the policy's timestamp is after the last record. */
        END
    }

    Phase phase = Phase.FETCH;
    /** Whether the broker has been asked and has not answered yet. */
    boolean asking;

    ResetTo resetTo = ResetTo.FIRST_RECORD;

    /** The topic's id; zero until it is known. */
    Uuid topicId = Uuid.ZERO_UUID;

    /** The leader epoch of the last fetched batch, or of the start; -1 if unknown. */
    int offsetEpoch;
    /** The epoch of the leader whose log is known to have the position; -1 for none yet. */
    int checkedEpoch = NONE;

    /** The follower that the leader named for reading; -1 for none. */
    int readReplica = NONE;

    long readReplicaUntilMs;

    /** The session in which it is fetched now; null if it is in none. Any thread may read it. */
    volatile BrokerFetches.Side side;

    FetchSlot slot;
    /** What {@link FetchSink#maxAhead} returned last. */
    int maxAhead = FetchSink.UNLIMITED;

    /** Whether it belongs to the session of partitions that receive nothing. */
    boolean cold;

    /** When data last arrived; before the first data, when it was assigned. */
    long lastDataMs;

    boolean hasBroughtData;

    int failures;
    long notBeforeMs = Long.MIN_VALUE;
    /** Whether the sink has been told of the present failure. */
    boolean told;

    // Written by the fetch thread, read by any thread.
    private volatile long offset;
    private volatile FetchOffsets offsets = FetchOffsets.UNKNOWN;
    private volatile long offsetsMs = Long.MIN_VALUE / 2;
    private volatile long resumeAt;

    // Written by any thread.
    private final AtomicLong outstanding = new AtomicLong();
    private final AtomicBoolean paused = new AtomicBoolean();

    /** {@code onResume} is run, by any thread, when the partition may be fetched again. */
    FetchPartition(TopicPartition topicPartition, long offset, int offsetEpoch, Consumer<FetchPartition> onResume) {
        this.topicPartition = topicPartition;
        this.offset = offset;
        this.offsetEpoch = offsetEpoch;
        this.onResume = onResume;
    }

    /** Any thread may call it. */
    TopicPartition topicPartition() {
        return topicPartition;
    }

    /** Returns where to fetch next. Any thread may call it. */
    long offset() {
        return offset;
    }

    /** Returns what the broker said last. Any thread may call it. */
    FetchOffsets offsets() {
        return offsets;
    }

    void moveTo(long newOffset, int epoch) {
        offset = newOffset;
        offsetEpoch = epoch;
    }

    void updateOffsets(FetchOffsets newOffsets, long nowMs) {
        offsets = newOffsets;
        offsetsMs = nowMs;
    }

    /**
     * When the source last reported something for it; sessions leave out what has not changed. Any thread may call it.
     */
    long answeredMs() {
        BrokerFetches.Side session = side;
        return session == null ? offsetsMs : Math.max(offsetsMs, session.answeredMs());
    }

    void onHandedOut(int bytes) {
        outstanding.addAndGet(bytes);
    }

    /** Whether the sink wants nothing from it for now. */
    boolean isHeld() {
        return maxAhead == 0;
    }

    /** Whether the sink wants only a little of it at a time. */
    boolean isLimited() {
        return maxAhead != FetchSink.UNLIMITED;
    }

    /** Pauses the partition if it keeps {@code limit} bytes or more; it is resumed at half of them. */
    void pauseAt(long limit) {
        long now = outstanding.get();
        if (now >= limit) {
            resumeAt = now / 2;
            paused.set(true);
            if (outstanding.get() <= resumeAt) {
                paused.set(false); // if another thread has resumed it, it is visited once more, which is harmless
            }
        }
    }

    boolean isPaused() {
        return paused.get();
    }

    /** Any thread may call it. */
    void onReleased(int bytes) {
        long left = outstanding.addAndGet(-bytes);
        if (paused.get() && left <= resumeAt && paused.compareAndSet(true, false)) {
            onResume.accept(this);
        }
    }

    void clearFailure() {
        failures = 0;
        told = false;
    }
}
