package dev.millrace.client.kafka;

import dev.millrace.kafka.common.utils.Time;
import java.util.function.Supplier;

/**
 * The producer's clock as the {@code Time} of the application's kafka-clients, which the public constructors of {@code
 * Metrics} require.
 *
 * <p><b>Threads:</b> any.
 */
public final class MetricsTime implements org.apache.kafka.common.utils.Time {
    private final Time time;

    public MetricsTime(Time time) {
        this.time = time;
    }

    @Override
    public long milliseconds() {
        return time.milliseconds();
    }

    @Override
    public long nanoseconds() {
        return time.nanoseconds();
    }

    @Override
    public void sleep(long ms) {
        time.sleep(ms);
    }

    @Override
    public void waitObject(Object obj, Supplier<Boolean> condition, long deadlineMs) throws InterruptedException {
        time.waitObject(obj, condition, deadlineMs);
    }
}
