package dev.millrace.client.metadata;

import java.util.concurrent.ConcurrentHashMap;

/**
 * The brokers that one I/O thread cannot send to although batches wait, and since when. A partitioner avoids them after
 * {@code partitioner.availability.timeout.ms} (KIP-794).
 *
 * <p><b>Threads:</b> {@code note} and {@code clear} by that I/O thread; {@code isStalled} by any thread, without a
 * lock.
 * <p><b>Ordering:</b> only the map's own. A reader that sees a change late sends one more batch to the broker.
 */
public final class StalledBrokers {
    private final long timeoutMs;
    private final ConcurrentHashMap<Integer, Long> waitingSinceMs = new ConcurrentHashMap<>();

    /** Creates the set. A broker counts as stalled after {@code timeoutMs} milliseconds; never if that is 0. */
    public StalledBrokers(long timeoutMs) {
        this.timeoutMs = timeoutMs;
    }

    /**
     * Notes the state of a broker after an attempt to send to it.
     *
     * @param taken whether a request was just sent to it
     * @param waiting whether no further request can be sent to it now, although batches may wait
     */
    public void note(int node, boolean taken, boolean waiting, long nowMs) {
        if (taken || !waiting) {
            clear(node);
        }
        if (waiting && timeoutMs > 0 && !waitingSinceMs.containsKey(node)) {
            waitingSinceMs.put(node, nowMs);
        }
    }

    /** Forgets how long the broker has been waited for. */
    public void clear(int node) {
        if (!waitingSinceMs.isEmpty()) {
            waitingSinceMs.remove(node);
        }
    }

    /** Whether batches have waited for the broker longer than the timeout. */
    public boolean isStalled(int node, long nowMs) {
        Long since = waitingSinceMs.get(node);
        return since != null && nowMs - since > timeoutMs;
    }
}
