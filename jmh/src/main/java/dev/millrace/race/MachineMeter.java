package dev.millrace.race;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Measures, from construction to {@link #stop}, how much of the machine was used by others than this JVM and the processes
 * that it has started, and how much the hypervisor took. Only Linux tells it.
 */
final class MachineMeter {
    private static final Path STAT = Path.of("/proc/stat");
    /** Linux counts CPU time in hundredths of a second, whatever the kernel's own clock. */
    private static final long TICK_NANOS = 10_000_000;
    /** The columns of {@code /proc/stat} after its name: user, nice, system, idle, iowait, irq, softirq, steal. */
    private static final List<Integer> BUSY = List.of(0, 1, 2, 5, 6);

    private static final int STEAL = 7;

    private final long startNanos = System.nanoTime();
    private final Usage before = Usage.now();

    /** CPU time since the machine's start, in nanoseconds. */
    private record Usage(long busy, long own, long steal) {
        static Usage now() {
            if (!Files.isReadable(STAT)) {
                return new Usage(0, 0, 0);
            }
            try (Stream<String> lines = Files.lines(STAT)) {
                String[] ticks = lines.findFirst()
                        .orElseThrow()
                        .replaceFirst("cpu +", "")
                        .split(" ", -1);
                long busy = BUSY.stream()
                        .mapToLong(column -> Long.parseLong(ticks[column]))
                        .sum();
                return new Usage(busy * TICK_NANOS, ownNanos(), Long.parseLong(ticks[STEAL]) * TICK_NANOS);
            } catch (IOException e) {
                return new Usage(0, 0, 0);
            }
        }

        private static long ownNanos() {
            return Stream.concat(
                            Stream.of(ProcessHandle.current()),
                            ProcessHandle.current().descendants())
                    .mapToLong(process -> process.info()
                            .totalCpuDuration()
                            .map(Duration::toNanos)
                            .orElse(0L))
                    .sum();
        }
    }

    /** In percent of one core. Empty if the machine does not tell. */
    Map<RaceMetric, Double> stop() {
        Map<RaceMetric, Double> metrics = new EnumMap<>(RaceMetric.class);
        Usage after = Usage.now();
        if (after.busy > 0) {
            double nanos = System.nanoTime() - startNanos;
            long others = (after.busy - before.busy) - (after.own - before.own);
            metrics.put(RaceMetric.OTHERS_PERCENT, Math.max(0, others * 100 / nanos));
            metrics.put(RaceMetric.STEAL_PERCENT, (after.steal - before.steal) * 100 / nanos);
        }
        return metrics;
    }
}
