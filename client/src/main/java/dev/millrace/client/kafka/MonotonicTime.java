package dev.millrace.client.kafka;

import dev.millrace.kafka.common.utils.Time;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A clock for Kafka's network layer that changes of the wall clock do not affect: it starts at the wall clock's time
 * and adds the elapsed nanoseconds.
 *
 * <p><b>Threads:</b> any.
 */
public final class MonotonicTime implements Time {
    private static final long NS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);

    private final long startMs = System.currentTimeMillis();
    private final long startNs = System.nanoTime();

    @Override
    public long milliseconds() {
        return millisecondsBefore(0);
    }

    /** Returns the value of {@link #milliseconds} this many nanoseconds ago. */
    long millisecondsBefore(long ns) {
        return startMs + Math.floorDiv(System.nanoTime() - startNs - ns, NS_PER_MS);
    }

    @Override
    public long nanoseconds() {
        return System.nanoTime();
    }

    @Override
    public void sleep(long ms) {
        Time.SYSTEM.sleep(ms);
    }

    @Override
    public void waitObject(Object obj, Supplier<Boolean> condition, long deadlineMs) throws InterruptedException {
        long remainingMs = deadlineMs - milliseconds();
        Time.SYSTEM.waitObject(obj, condition, Time.SYSTEM.milliseconds() + remainingMs);
    }
}
