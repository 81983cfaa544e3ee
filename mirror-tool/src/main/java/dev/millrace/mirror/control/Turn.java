package dev.millrace.mirror.control;

/**
 * Waits for the turn of what comes next of a partition, under the limit of its topic and under that of all topics.
 *
 * <p><b>Threads:</b> one at a time; {@link #isWaiting} by any.
 */
public final class Turn {
    private final TopicControls controls;
    private final TopicGate gate;
    private final Reservation ofTopic = new Reservation();
    private final Reservation ofAll = new Reservation();
    private volatile boolean isWaiting;

    Turn(TopicControls controls, TopicGate gate) {
        this.controls = controls;
        this.gate = gate;
    }

    /** In one bucket at a time: when the limit changes, the wait begins anew in the new bucket. */
    private static final class Reservation {
        private TokenBucket in;
        private long dueNanos;

        boolean isDue(TokenBucket limitOrNull, long bytes, long nowNanos) {
            if (in != limitOrNull && limitOrNull != null) {
                dueNanos = limitOrNull.reserve(bytes, nowNanos);
            }
            in = limitOrNull;
            return in == null || nowNanos - dueNanos >= 0;
        }

        void clear() {
            in = null;
        }
    }

    /**
     * Whether so many bytes may pass now, which then count as passed. Else the same are to be asked for again; asked
     * often enough, they pass in the order in which they were asked for first.
     */
    public boolean tryPass(long bytes) {
        TokenBucket topic = gate.bucketOrNull();
        TokenBucket all = controls.bucketOfAllOrNull();
        if (topic == null && all == null) {
            if (isWaiting) {
                isWaiting = false;
            }
            return true;
        }
        long now = controls.nowNanos();
        boolean mayPass = ofTopic.isDue(topic, bytes, now) && ofAll.isDue(all, bytes, now);
        if (mayPass) {
            ofTopic.clear();
            ofAll.clear();
        }
        isWaiting = !mayPass;
        return mayPass;
    }

    /** Whether {@link #tryPass} is to be asked; else everything may pass. */
    public boolean isThrottled() {
        return isWaiting || gate.bucketOrNull() != null || controls.bucketOfAllOrNull() != null;
    }

    /** Whether the last answer was no. */
    public boolean isWaiting() {
        return isWaiting;
    }
}
