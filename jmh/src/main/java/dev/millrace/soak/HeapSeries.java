package dev.millrace.soak;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The memory in use after collections, heap and direct buffers together, at several points in time.
 *
 * <p><b>Threads:</b> one.
 */
final class HeapSeries {
    private final LongSupplier usedBytes;
    private final List<Long> points = new ArrayList<>();

    private HeapSeries(LongSupplier usedBytes) {
        this.usedBytes = usedBytes;
    }

    /** Of this JVM. */
    static HeapSeries ofThisJvm() {
        return new HeapSeries(HeapSeries::usedAfterCollection);
    }

    /** Of anything else that can be asked. */
    static HeapSeries of(LongSupplier usedBytes) {
        return new HeapSeries(usedBytes);
    }

    private static long usedAfterCollection() {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        memory.gc();
        memory.gc(); // what cleaners and reference queues have let go of
        long direct = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
        return memory.getHeapMemoryUsage().getUsed() + direct;
    }

    /** Adds a point, and returns it in bytes. */
    long add() {
        long used = usedBytes.getAsLong();
        points.add(used);
        return used;
    }

    /**
     * By how many bytes the least of the later half of the points is above the least of the earlier half. What is in use
     * for a moment only adds to a point, so a difference is there to stay.
     */
    long growthBytes() {
        int half = points.size() / 2;
        return Collections.min(points.subList(half, points.size())) - Collections.min(points.subList(0, half));
    }
}
