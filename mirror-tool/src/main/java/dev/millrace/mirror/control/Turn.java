package dev.millrace.mirror.control;

/**
 * Decides when a partition's next bytes may pass under the limit of its topic and that of all topics.
 *
 * <p><b>Threads:</b> one at a time; any thread may call {@link #isWaiting}.
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

    /** A reservation belongs to one bucket: when the limit changes, the wait restarts in the new bucket. */
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
     * Returns whether this many bytes may pass now, and counts them as passed if so. Otherwise ask for the same bytes
     * again; asked often enough, requests pass in the order in which they were first made.
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

    /** Whether callers must ask {@link #tryPass}; otherwise everything may pass. */
    public boolean isThrottled() {
        return isWaiting || gate.bucketOrNull() != null || controls.bucketOfAllOrNull() != null;
    }

    /** Whether the last answer was no. */
    public boolean isWaiting() {
        return isWaiting;
    }
}
