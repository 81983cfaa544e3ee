package dev.millrace.mirror.control;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * Pauses, resumes and throttles topics while the mirror runs. Each command holds as long as the process lives, also for
 * topics and partitions that appear later.
 *
 * <p><b>Threads:</b> any.
 * <p><b>Ordering:</b> changes are made one after the other, under a lock. The state is written after the gates of all
 * topics, so a thread that sees a new state finds gates at least as new.
 */
public final class TopicControls {
    private final LongSupplier nanoTime;
    private final Map<String, TopicGate> gates = new ConcurrentHashMap<>();
    private volatile TokenBucket bucketOfAll;
    private volatile ControlState state = ControlState.NONE;

    public TopicControls() {
        this(System::nanoTime);
    }

    TopicControls(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Stops reading these topics; without any, all topics. */
    public void pause(Optional<Pattern> topics) {
        change(state -> state.withPaused(topics, true));
    }

    /** Resumes reading these topics; without any, all topics. */
    public void resume(Optional<Pattern> topics) {
        change(state -> state.withPaused(topics, false));
    }

    /**
     * Limits how fast each of these topics is copied; without any, all together.
     *
     * @param bytesPerSecond {@link ByteRate#NONE} removes the limit
     */
    public void throttle(Optional<Pattern> topics, long bytesPerSecond) {
        change(state -> state.withThrottle(topics, bytesPerSecond));
    }

    private synchronized void change(UnaryOperator<ControlState> by) {
        ControlState next = by.apply(state);
        bucketOfAll = bucket(bucketOfAll, next.throttleOfAll());
        gates.values().forEach(gate -> gate.apply(next));
        state = next;
    }

    /** Returns the bucket for this limit, or null without one; reuses the given bucket if it has that limit. */
    TokenBucket bucket(TokenBucket formerOrNull, long bytesPerSecond) {
        if (bytesPerSecond == ByteRate.NONE) {
            return null;
        }
        boolean isSame = formerOrNull != null && formerOrNull.bytesPerSecond() == bytesPerSecond;
        return isSame ? formerOrNull : new TokenBucket(bytesPerSecond, nanoTime.getAsLong());
    }

    /** Returns the state as of the last change, which creates a new object each time. */
    public ControlState state() {
        return state;
    }

    /** Returns the gate of a topic, always the same object. */
    public TopicGate of(String topic) {
        TopicGate known = gates.get(topic);
        return known == null ? create(topic) : known;
    }

    private synchronized TopicGate create(String topic) {
        return gates.computeIfAbsent(topic, name -> {
            TopicGate gate = new TopicGate(name, this);
            gate.apply(state);
            return gate;
        });
    }

    TokenBucket bucketOfAllOrNull() {
        return bucketOfAll;
    }

    long nowNanos() {
        return nanoTime.getAsLong();
    }
}
