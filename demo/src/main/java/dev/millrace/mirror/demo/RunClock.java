package dev.millrace.mirror.demo;

import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures the time and the CPU time of one run, from the poll that passes the first quarter of the records, in which
 * the JVM warms up, to the last acknowledgement.
 *
 * <p><b>Threads:</b> any thread may call {@link #onPolled} and {@link #isRunning}; one calls {@link #stop}. The other
 * methods may be called after that.
 * <p><b>Ordering:</b> the thread that sets {@code started} writes the start. The thread that stops has got, through the
 * producer, a record that was sent after that. A thread that reads must have waited for the stop.
 */
final class RunClock {
    private static final com.sun.management.OperatingSystemMXBean PROCESS =
            ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class);

    private final long records;
    private final Runnable onStart;
    private final AtomicLong polled = new AtomicLong();
    private final AtomicBoolean started = new AtomicBoolean();
    private long skipped;
    private long startNanos;
    private long startCpuNanos;
    private double startCompilerNanos;
    private long nanos;
    private long cpuNanos;
    private double compilerNanos;

    /**
     * @param records of the whole run
     * @param onStart run when the measurement begins, by the thread that polled
     */
    RunClock(long records, Runnable onStart) {
        this.records = records;
        this.onStart = onStart;
    }

    /** To be called for each poll before its records are sent. */
    void onPolled(int count) {
        if (!started.get()) {
            long before = polled.getAndAdd(count);
            if (before + count > records / 4 && started.compareAndSet(false, true)) {
                skipped = before;
                startCompilerNanos = CompilerCpu.nanos();
                startCpuNanos = PROCESS.getProcessCpuTime();
                startNanos = System.nanoTime();
                onStart.run();
            }
        }
    }

    /** Whether the measurement has begun. */
    boolean isRunning() {
        return started.get();
    }

    void stop() {
        nanos = System.nanoTime() - startNanos;
        cpuNanos = PROCESS.getProcessCpuTime() - startCpuNanos;
        compilerNanos = CompilerCpu.nanos() - startCompilerNanos;
    }

    /** The records of the poll that started the clock, and of all later ones. */
    long measuredRecords() {
        return records - skipped;
    }

    double recordsPerSecond() {
        return measuredRecords() * 1e9 / nanos;
    }

    CpuPerRecord cpuPerRecord() {
        return new CpuPerRecord((double) cpuNanos / measuredRecords(), compilerNanos / measuredRecords());
    }
}
