package dev.millrace.race;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Counts the system calls of a running process with {@code strace}, which must be installed and be allowed to attach.
 */
final class Strace implements SystemCallCounter {
    /** Share of time, seconds, µs per call, calls, errors if there were any, name. */
    private static final Pattern LINE =
            Pattern.compile("\\s*[\\d.]+\\s+[\\d.]+\\s+\\d+\\s+(\\d+)\\s+(?:\\d+\\s+)?(\\w+)\\s*");

    private final Process process;
    private final Path summary;

    private Strace(Process process, Path summary) {
        this.process = process;
        this.summary = summary;
    }

    static Strace attach(long pid, Path folder) throws IOException {
        Path summary = folder.resolve("strace");
        Process process = new ProcessBuilder("strace", "-f", "-c", "-o", summary.toString(), "-p", Long.toString(pid))
                .redirectErrorStream(true)
                .start();
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        String line = output.readLine();
        if (line == null || !line.contains("attached")) {
            throw new RaceException("strace cannot attach: " + line);
        }
        return new Strace(process, summary);
    }

    @Override
    public Map<String, Long> stop() throws IOException, InterruptedException {
        SystemCallCounter.endAndAwait(process);
        return parse(Files.readString(summary));
    }

    /** Reads the table that {@code strace -c} prints, without its last line, the sum. */
    static Map<String, Long> parse(String summary) {
        Map<String, Long> calls = new HashMap<>();
        summary.lines()
                .map(LINE::matcher)
                .filter(Matcher::matches)
                .filter(line -> !line.group(2).equals("total"))
                .forEach(line -> calls.put(line.group(2), Long.valueOf(line.group(1))));
        return calls;
    }

    static boolean isInstalled() {
        return SystemCallCounter.isOnPath("strace");
    }
}
