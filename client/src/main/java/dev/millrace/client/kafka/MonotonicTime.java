package dev.millrace.client.kafka;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/**
 * Kafka's clock, but no change of the wall clock moves it: it starts at the wall clock's time and counts nanoseconds from
 * there. Timers and time-outs of the network layer run on it.
 */
final class MonotonicTime implements Time {
    private final long startMs = System.currentTimeMillis();
    private final long startNs = System.nanoTime();

    @Override
    public long milliseconds() {
        return startMs + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
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
