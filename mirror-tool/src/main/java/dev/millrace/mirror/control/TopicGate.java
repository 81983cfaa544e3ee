package dev.millrace.mirror.control;

/**
 * Whether a topic is paused, and how fast it may be copied.
 *
 * <p><b>Threads:</b> any.
 * <p><b>Ordering:</b> {@link TopicControls} writes under its lock; the fields that other threads read are volatile.
 */
public final class TopicGate {
    /** The {@link #maxAhead} of a topic without a limit. */
    public static final int UNLIMITED = Integer.MAX_VALUE;

    /** A fraction small enough for a smooth flow and large enough for a few answers of the source per second. */
    private static final int PARTS_OF_SECOND = 8;

    private static final int MIN_AHEAD = 16 << 10;
    private static final int MAX_AHEAD = 1 << 20;

    private final String topic;
    private final TopicControls controls;
    private volatile boolean isPaused;
    private volatile TokenBucket bucket;

    TopicGate(String topic, TopicControls controls) {
        this.topic = topic;
        this.controls = controls;
    }

    void apply(ControlState state) {
        isPaused = state.isPaused(topic);
        bucket = controls.bucket(bucket, state.throttleOf(topic));
    }

    public boolean isPaused() {
        return isPaused;
    }

    /** Returns how many bytes of a partition to read before earlier ones have passed; 0 while the topic is paused. */
    public int maxAhead() {
        if (isPaused) {
            return 0;
        }
        long rate = Math.min(rate(bucket), rate(controls.bucketOfAllOrNull()));
        return rate == Long.MAX_VALUE
                ? UNLIMITED
                : (int) Math.max(MIN_AHEAD, Math.min(MAX_AHEAD, rate / PARTS_OF_SECOND));
    }

    private static long rate(TokenBucket limitOrNull) {
        return limitOrNull == null ? Long.MAX_VALUE : limitOrNull.bytesPerSecond();
    }

    /** Returns the turn of one partition, or of another part of the topic that keeps its own order. */
    public Turn newTurn() {
        return new Turn(controls, this);
    }

    TokenBucket bucketOrNull() {
        return bucket;
    }
}
