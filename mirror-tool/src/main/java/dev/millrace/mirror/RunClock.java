package dev.millrace.mirror;

import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Takes the time and the CPU of one run: from the first record polled to the last one acknowledged.
 *
 * <p><b>Threads:</b> any may call {@link #start}; one calls {@link #stop}, and after it others read.
 * <p><b>Ordering:</b> the start is written by whoever wins {@code started}. Whoever stops has been handed a record
 * polled after that, by a producer's I/O thread; who reads must have waited for the stop.
 */
final class RunClock {
    private static final com.sun.management.OperatingSystemMXBean PROCESS =
            ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class);

    private final AtomicBoolean started = new AtomicBoolean();
    private long startNanos;
    private long startCpuNanos;
    private long nanos;
    private long cpuNanos;

    /** The first call starts it, further ones do nothing. */
    void start() {
        if (!started.get() && started.compareAndSet(false, true)) {
            startCpuNanos = PROCESS.getProcessCpuTime();
            startNanos = System.nanoTime();
        }
    }

    void stop() {
        nanos = System.nanoTime() - startNanos;
        cpuNanos = PROCESS.getProcessCpuTime() - startCpuNanos;
    }

    /** From start to stop. */
    long nanos() {
        return nanos;
    }

    /** Of the whole process, from start to stop. */
    long cpuNanos() {
        return cpuNanos;
    }
}
