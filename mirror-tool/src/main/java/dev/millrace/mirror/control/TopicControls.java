package dev.millrace.mirror.control;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * Pauses, resumes and throttles topics while the mirror runs. What it is told holds as long as the process: for topics
 * and partitions that come later, too.
 *
 * <p><b>Threads:</b> any.
 * <p><b>Ordering:</b> changes are made one after the other, under a lock. The state is written after the gates of all
 * topics, so who has seen a new state finds gates that are as new.
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

    /** Has nothing more read of these topics; without any, of all. */
    public void pause(Optional<Pattern> topics) {
        change(state -> state.withPaused(topics, true));
    }

    /** Takes a pause back. */
    public void resume(Optional<Pattern> topics) {
        change(state -> state.withPaused(topics, false));
    }

    /**
     * Limits how much is copied of each of these topics; without any, of all together.
     *
     * @param bytesPerSecond {@link ByteRate#NONE} takes the limit off
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

    /** The bucket of this limit, or null without one: the given one, if it has that. */
    TokenBucket bucket(TokenBucket formerOrNull, long bytesPerSecond) {
        if (bytesPerSecond == ByteRate.NONE) {
            return null;
        }
        boolean isSame = formerOrNull != null && formerOrNull.bytesPerSecond() == bytesPerSecond;
        return isSame ? formerOrNull : new TokenBucket(bytesPerSecond, nanoTime.getAsLong());
    }

    /** As of the last change; another object after each. */
    public ControlState state() {
        return state;
    }

    /** That of a topic, always the same. */
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
