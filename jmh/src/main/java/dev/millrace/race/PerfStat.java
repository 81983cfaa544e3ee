package dev.millrace.race;

import dev.millrace.testkit.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Counts system calls with {@code perf stat}. The kernel counts, which hardly slows the process. Needs its tracepoints.
 */
final class PerfStat implements SystemCallCounter {
    private static final String ALL_CALLS = "raw_syscalls:sys_enter";
    private static final String ENTER_PREFIX = "syscalls:sys_enter_";
    private static final List<String> CALLS = List.of(
            "futex",
            "epoll_wait",
            "epoll_pwait",
            "writev",
            "sendto",
            "sendmsg",
            "read",
            "readv",
            "recvfrom",
            "recvmsg");

    /** Two events have this name; a filter limits the first to the wake-ups. */
    private static final String WRITE = ENTER_PREFIX + "write";

    private static final String IS_WAKE_UP = "count == 8";
    private static final String IS_OTHER_WRITE = "count != 8";

    /** Seconds, count (or text if there is none), unit, event. */
    private static final Pattern LINE = Pattern.compile("\\s*[\\d.]+,([^,]*),[^,]*,([\\w:]+),.*");

    /** How often perf writes its counts; after the first time it is known to be counting. */
    private static final String INTERVAL_MS = "100";

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Process process;
    private final Path counts;

    private PerfStat(Process process, Path counts) {
        this.process = process;
        this.counts = counts;
    }

    static PerfStat attach(long pid, Path folder) throws IOException {
        Path counts = folder.resolve("perf");
        Process process = perf("-o", counts.toString(), "-I", INTERVAL_MS, "-p", Long.toString(pid));
        Await.until("perf counts", PATIENCE, () -> {
            if (!process.isAlive()) {
                throw new RaceException("perf cannot attach");
            }
            return counts.toFile().length() > 0;
        });
        return new PerfStat(process, counts);
    }

    /** Whether perf is installed and may count all these events. */
    static boolean isUsable() throws IOException, InterruptedException {
        return SystemCallCounter.isOnPath("perf") && perf("true").waitFor() == 0;
    }

    private static Process perf(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("perf", "stat", "-x", ",", "-e", ALL_CALLS));
        CALLS.forEach(call -> command.addAll(List.of("-e", ENTER_PREFIX + call)));
        command.addAll(List.of("-e", WRITE, "--filter", IS_WAKE_UP, "-e", WRITE, "--filter", IS_OTHER_WRITE));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    @Override
    public Map<String, Long> stop() throws IOException, InterruptedException {
        SystemCallCounter.endAndAwait(process);
        try (Stream<String> lines = Files.lines(counts)) {
            return parse(lines);
        }
    }

    /** Adds up all intervals; ignores lines that are not an event. */
    static Map<String, Long> parse(Stream<String> lines) {
        Map<String, Long> calls = new HashMap<>();
        boolean[] wakeUpIsNext = {true};
        lines.map(LINE::matcher).filter(Matcher::matches).forEach(line -> {
            String event = line.group(2);
            // perf prints text instead of a count if the process made no call in the interval.
            long count = line.group(1).startsWith("<") ? 0 : Long.parseLong(line.group(1));
            if (event.equals(ALL_CALLS)) {
                calls.merge("other", count, Long::sum);
            } else {
                String call = event.substring(ENTER_PREFIX.length());
                if (event.equals(WRITE)) {
                    call = wakeUpIsNext[0] ? WAKE_UP : call;
                    wakeUpIsNext[0] = !wakeUpIsNext[0];
                }
                calls.merge(call, count, Long::sum);
                calls.merge("other", -count, Long::sum);
            }
        });
        return calls;
    }
}
