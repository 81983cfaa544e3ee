package dev.millrace.mirror.demo;

import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Takes the time and the CPU of one run: from the poll that comes past its first quarter, in which the JVM warms up, to
 * the last record acknowledged.
 *
 * <p><b>Threads:</b> any may call {@link #onPolled} and {@link #isRunning}; one calls {@link #stop}, and after it others
 * read.
 * <p><b>Ordering:</b> the start is written by whoever wins {@code started}. Whoever stops has been handed a record
 * polled after that, by a producer's I/O thread; who reads must have waited for the stop.
 */
final class RunClock {
    private static final com.sun.management.OperatingSystemMXBean PROCESS =
            ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class);

    private final long records;
    private final AtomicLong polled = new AtomicLong();
    private final AtomicBoolean started = new AtomicBoolean();
    private long skipped;
    private long startNanos;
    private long startCpuNanos;
    private long nanos;
    private long cpuNanos;

    /** @param records of the whole run */
    RunClock(long records) {
        this.records = records;
    }

    /** Told of each poll, before its records are sent. */
    void onPolled(int count) {
        if (!started.get()) {
            long before = polled.getAndAdd(count);
            if (before + count > records / 4 && started.compareAndSet(false, true)) {
                skipped = before;
                startCpuNanos = PROCESS.getProcessCpuTime();
                startNanos = System.nanoTime();
            }
        }
    }

    /** Whether what is polled now is measured. */
    boolean isRunning() {
        return started.get();
    }

    void stop() {
        nanos = System.nanoTime() - startNanos;
        cpuNanos = PROCESS.getProcessCpuTime() - startCpuNanos;
    }

    /** Those polled since the start, and with it. */
    long measuredRecords() {
        return records - skipped;
    }

    double recordsPerSecond() {
        return measuredRecords() * 1e9 / nanos;
    }

    /** Of the whole process. */
    double cpuNanosPerRecord() {
        return (double) cpuNanos / measuredRecords();
    }
}
