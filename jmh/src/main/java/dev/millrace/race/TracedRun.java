package dev.millrace.race;

import dev.millrace.testkit.JavaProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** A run whose system calls and clock reads are counted, from after the warm-up to the end of {@code flush()}. */
final class TracedRun implements AutoCloseable {
    private final Path folder;
    private final Path pauseFile;
    private final Optional<ClockReadCounter> clock;

    /** @param clockSource C source of the library that counts clock reads */
    TracedRun(Path clockSource) throws IOException, InterruptedException {
        folder = Files.createTempDirectory("millrace-race-");
        pauseFile = folder.resolve("pause_file");
        clock = ClockReadCounter.prepare(clockSource, folder);
    }

    /** Starts the racer, which will pause after its warm-up. */
    JavaProgram start(RacerJvm racer, RacerArguments arguments) {
        Map<String, String> environment =
                clock.map(ClockReadCounter::environment).orElse(Map.of());
        return racer.start(
                Racer.class,
                List.of(),
                environment,
                arguments.set("pause_file", pauseFile).commandLine());
    }

    /** Counts and returns the metrics; returns none if the racer ended early. */
    Map<RaceMetric, Double> trace(JavaProgram program, long records) throws IOException, InterruptedException {
        Map<RaceMetric, Double> metrics = new EnumMap<>(RaceMetric.class);
        if (!PauseFile.awaitPaused(pauseFile, program::isAlive)) {
            return metrics;
        }
        SystemCallCounter counter = SystemCallCounter.attach(program.pid(), folder);
        long clockBefore = clockReads();
        PauseFile.resume(pauseFile);
        if (!PauseFile.awaitPaused(pauseFile, program::isAlive)) {
            return metrics;
        }
        long clockReads = clockReads() - clockBefore;
        Map<String, Long> calls = counter.stop();
        PauseFile.resume(pauseFile);

        double thousands = records / 1e3;
        metrics.put(RaceMetric.SYSCALLS, sum(calls.values().stream()) / thousands);
        metrics.put(RaceMetric.FUTEX, sum(calls, "futex") / thousands);
        metrics.put(RaceMetric.EPOLL_WAIT, sum(calls, "epoll_wait", "epoll_pwait") / thousands);
        metrics.put(RaceMetric.WRITE, sum(calls, "write", "writev", "sendto", "sendmsg") / thousands);
        if (calls.containsKey(SystemCallCounter.WAKE_UP)) {
            metrics.put(RaceMetric.WAKE_UPS, sum(calls, SystemCallCounter.WAKE_UP) / thousands);
        }
        metrics.put(RaceMetric.READ, sum(calls, "read", "readv", "recvfrom", "recvmsg") / thousands);
        if (clock.isPresent()) {
            metrics.put(RaceMetric.CLOCK_READS, clockReads / thousands);
        }
        return metrics;
    }

    private long clockReads() throws IOException {
        return clock.isPresent() ? clock.get().count() : 0;
    }

    private static long sum(Map<String, Long> calls, String... names) {
        return sum(Stream.of(names).map(name -> calls.getOrDefault(name, 0L)));
    }

    private static long sum(Stream<Long> numbers) {
        return numbers.mapToLong(Long::longValue).sum();
    }

    @Override
    public void close() throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
