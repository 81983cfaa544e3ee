package dev.millrace.client.metadata;

import java.util.concurrent.ConcurrentHashMap;

/**
 * The brokers that take nothing from one I/O thread although batches wait for them, and since when; what
 * {@code partitioner.availability.timeout.ms} looks at (KIP-794).
 *
 * <p><b>Threads:</b> {@code note} and {@code clear} by that I/O thread; {@code isStalled} by any, without a
 * lock.
 * <p><b>Ordering:</b> none but the map's own; being seen late costs a batch.
 */
public final class StalledBrokers {
    private final long timeoutMs;
    private final ConcurrentHashMap<Integer, Long> waitingSinceMs = new ConcurrentHashMap<>();

    /** Calls a broker stalled after {@code timeoutMs}; never if that is 0. */
    public StalledBrokers(long timeoutMs) {
        this.timeoutMs = timeoutMs;
    }

    /**
     * What a broker does now.
     *
     * @param taken whether it has just taken something
     * @param waiting whether it can take nothing more, though more may wait
     */
    public void note(int node, boolean taken, boolean waiting, long nowMs) {
        if (taken || !waiting) {
            clear(node);
        }
        if (waiting && timeoutMs > 0 && !waitingSinceMs.containsKey(node)) {
            waitingSinceMs.put(node, nowMs);
        }
    }

    /** Forgets a broker. */
    public void clear(int node) {
        if (!waitingSinceMs.isEmpty()) {
            waitingSinceMs.remove(node);
        }
    }

    /** Whether it has been waited for longer than the timeout. */
    public boolean isStalled(int node, long nowMs) {
        Long since = waitingSinceMs.get(node);
        return since != null && nowMs - since > timeoutMs;
    }
}
