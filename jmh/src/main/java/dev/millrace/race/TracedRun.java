package dev.millrace.race;

import dev.millrace.testkit.process.JavaProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** A run of which the system calls and clock reads are counted, from after the warm-up to the end of {@code flush()}. */
final class TracedRun implements AutoCloseable {
    private final Path folder;
    private final Path gate;
    private final Optional<ClockReads> clock;

    /** @param clockSource of the library that counts clock reads */
    TracedRun(Path clockSource) throws IOException, InterruptedException {
        folder = Files.createTempDirectory("millrace-race-");
        gate = folder.resolve("gate");
        clock = ClockReads.prepare(clockSource, folder);
    }

    /** Starts the racer so that it waits to be traced. */
    JavaProgram start(RacerJvm racer, RacerArguments arguments) {
        Map<String, String> environment = clock.map(ClockReads::environment).orElse(Map.of());
        return racer.start(
                Racer.class, List.of(), environment, arguments.set("gate", gate).commandLine());
    }

    /** Returns the figures; none when the racer ended before its time. */
    Map<Figure, Double> trace(JavaProgram program, long records) throws IOException, InterruptedException {
        Map<Figure, Double> figures = new EnumMap<>(Figure.class);
        if (!Gate.awaitRacer(gate, program::isAlive)) {
            return figures;
        }
        SystemCalls counter = SystemCalls.attach(program.pid(), folder);
        long clockBefore = clockReads();
        Gate.open(gate);
        if (!Gate.awaitRacer(gate, program::isAlive)) {
            return figures;
        }
        long clockReads = clockReads() - clockBefore;
        Map<String, Long> calls = counter.stop();
        Gate.open(gate);

        double thousands = records / 1e3;
        figures.put(Figure.SYSCALLS, sum(calls.values().stream()) / thousands);
        figures.put(Figure.FUTEX, sum(calls, "futex") / thousands);
        figures.put(Figure.EPOLL_WAIT, sum(calls, "epoll_wait", "epoll_pwait") / thousands);
        figures.put(Figure.WRITE, sum(calls, "write", "writev", "sendto", "sendmsg") / thousands);
        if (calls.containsKey(SystemCalls.WAKE_UP)) {
            figures.put(Figure.WAKE_UPS, sum(calls, SystemCalls.WAKE_UP) / thousands);
        }
        figures.put(Figure.READ, sum(calls, "read", "readv", "recvfrom", "recvmsg") / thousands);
        if (clock.isPresent()) {
            figures.put(Figure.CLOCK_READS, clockReads / thousands);
        }
        return figures;
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
