package dev.millrace.client.metadata;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The concurrent set of topics in use, whose metadata the producer keeps up to date.
 *
 * <p><b>Threads:</b> {@code add} by any thread, without a lock if the set has the topic; {@code removeIdle} by the
 * first I/O thread.
 * <p><b>Ordering:</b> the mark of use is opaque and orders nothing. If {@code removeIdle} drops a topic at the moment
 * of its next use, the next complete image lacks the topic, and the next {@code send} adds it again.
 */
public final class TopicRegistry {
    private final ConcurrentHashMap<String, Use> topics = new ConcurrentHashMap<>();

    /** Marks a topic as used; returns true if the set did not have it. */
    public boolean add(String topic) {
        Use use = topics.get(topic);
        if (use == null) {
            return topics.putIfAbsent(topic, new Use()) == null;
        }
        use.mark();
        return false;
    }

    /** Removes the topics that were not used for more than {@code maxIdleMs}; returns the remaining ones. */
    public Set<String> removeIdle(long nowMs, long maxIdleMs) {
        topics.forEach((topic, use) -> {
            use.clearMark(nowMs);
            if (nowMs - use.lastSeenMs > maxIdleMs) {
                topics.remove(topic, use);
            }
        });
        return Set.copyOf(topics.keySet());
    }

    private static final class Use {
        private static final VarHandle MARKED;

        static {
            try {
                MARKED = MethodHandles.lookup().findVarHandle(Use.class, "marked", boolean.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        /** Sending threads set it and {@code removeIdle} clears it, so that sending threads need not read a clock. */
        @SuppressWarnings("UnusedVariable") // read and written through MARKED
        private boolean marked = true;

        /** When {@code removeIdle} last found the mark set. */
        private long lastSeenMs;

        void mark() {
            if (!(boolean) MARKED.getOpaque(this)) {
                MARKED.setOpaque(this, true);
            }
        }

        void clearMark(long nowMs) {
            if ((boolean) MARKED.getOpaque(this)) {
                MARKED.setOpaque(this, false);
                lastSeenMs = nowMs;
            }
        }
    }
}
