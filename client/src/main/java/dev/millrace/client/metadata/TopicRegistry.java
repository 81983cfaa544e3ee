package dev.millrace.client.metadata;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The concurrent set of topics in use.
 *
 * <p><b>Threads:</b> {@code add} by any thread, without a lock when the topic is known; {@code sweep} by the first I/O
 * thread.
 * <p><b>Ordering:</b> the mark of use is opaque, it orders nothing. If a sweep forgets a topic at the very moment of its
 * next use, the next complete image lacks it, and the next {@code send} adds it anew.
 */
public final class TopicRegistry {
    private final ConcurrentHashMap<String, Use> topics = new ConcurrentHashMap<>();

    /** Marks a topic as used; true if it was not known before. */
    public boolean add(String topic) {
        Use use = topics.get(topic);
        if (use == null) {
            return topics.putIfAbsent(topic, new Use()) == null;
        }
        use.mark();
        return false;
    }

    /** Forgets topics that nobody used for {@code maxIdleMs}. */
    void sweep(long nowMs, long maxIdleMs) {
        topics.forEach((topic, use) -> {
            if (use.idleMs(nowMs) > maxIdleMs) {
                topics.remove(topic, use);
            }
        });
    }

    /** The topics in use after forgetting those that nobody used for {@code maxIdleMs}. */
    public Set<String> inUse(long nowMs, long maxIdleMs) {
        sweep(nowMs, maxIdleMs);
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

        /** Set by users, cleared by the sweep: nobody has to read a clock to be seen. */
        @SuppressWarnings("UnusedVariable") // read and written through MARKED
        private boolean marked = true;

        private long lastSeenMs;

        void mark() {
            if (!(boolean) MARKED.getOpaque(this)) {
                MARKED.setOpaque(this, true);
            }
        }

        long idleMs(long nowMs) {
            if ((boolean) MARKED.getOpaque(this)) {
                MARKED.setOpaque(this, false);
                lastSeenMs = nowMs;
            }
            return nowMs - lastSeenMs;
        }
    }
}
