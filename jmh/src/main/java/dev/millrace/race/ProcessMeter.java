package dev.millrace.race;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.lang.management.CompilationMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Measures what this JVM uses from construction to {@link #stop}. */
final class ProcessMeter {
    private static final OperatingSystemMXBean SYSTEM =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    private static final ThreadMXBean THREADS = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);
    private static final CompilationMXBean COMPILER = ManagementFactory.getCompilationMXBean();
    private static final List<GarbageCollectorMXBean> COLLECTORS = ManagementFactory.getGarbageCollectorMXBeans();

    private final Set<Long> senders;
    private final Map<Long, Long> allocatedBytes;
    private final long gcMillis;
    private final long gcCount;
    private final long compilerMillis;
    private final long cpuNanos;

    /** @param senders threads whose allocations are left out, because they count their own */
    ProcessMeter(List<Thread> senders) {
        this.senders = senders.stream().map(Thread::getId).collect(Collectors.toSet());
        allocatedBytes = allocatedBytes();
        gcMillis = gcMillis();
        gcCount = gcCount();
        compilerMillis = COMPILER.getTotalCompilationTime();
        cpuNanos = SYSTEM.getProcessCpuTime();
    }

    /**
     * What the JVM used.
     *
     * @param cpuNanos CPU time of the whole process
     * @param compilerMillis how long the threads of the JIT compiler were at work, all together
     * @param otherBytes allocated on the Java heap by threads that are not senders and have not ended
     */
    record Usage(long cpuNanos, long gcMillis, long gcCount, long compilerMillis, long otherBytes) {}

    Usage stop() {
        long cpu = SYSTEM.getProcessCpuTime() - cpuNanos;
        long bytes = 0;
        for (Map.Entry<Long, Long> thread : allocatedBytes().entrySet()) {
            bytes += thread.getValue() - allocatedBytes.getOrDefault(thread.getKey(), 0L);
        }
        long compiled = COMPILER.getTotalCompilationTime() - compilerMillis;
        return new Usage(cpu, gcMillis() - gcMillis, gcCount() - gcCount, compiled, bytes);
    }

    private Map<Long, Long> allocatedBytes() {
        long[] ids = THREADS.getAllThreadIds();
        long[] bytes = THREADS.getThreadAllocatedBytes(ids);
        Map<Long, Long> allocated = new HashMap<>();
        for (int i = 0; i < ids.length; i++) {
            boolean measurable =
                    bytes[i] >= 0 && ids[i] != Thread.currentThread().getId();
            if (measurable && !senders.contains(ids[i])) {
                allocated.put(ids[i], bytes[i]);
            }
        }
        return allocated;
    }

    private static long gcMillis() {
        return COLLECTORS.stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionTime)
                .sum();
    }

    private static long gcCount() {
        return COLLECTORS.stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionCount)
                .sum();
    }
}
