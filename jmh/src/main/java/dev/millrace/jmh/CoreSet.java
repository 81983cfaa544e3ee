package dev.millrace.jmh;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The processors on which this process, and those that it starts, may run. Linux only. */
final class CoreSet {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String ALLOWED = "Cpus_allowed_list:";

    private CoreSet() {}

    /** Returns the numbers of the processors that are allowed now. */
    static List<Integer> allowed() throws IOException {
        return Files.readAllLines(STATUS).stream()
                .filter(line -> line.startsWith(ALLOWED))
                .findFirst()
                .map(line -> parse(line.substring(ALLOWED.length())))
                .orElseThrow(() -> new IOException(STATUS + " has no line " + ALLOWED));
    }

    /** Parses a list such as {@code 0-3,8}. */
    static List<Integer> parse(String list) {
        List<Integer> numbers = new ArrayList<>();
        for (String range : list.trim().split(",", -1)) {
            String[] ends = range.split("-", -1);
            IntStream.rangeClosed(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]))
                    .forEach(numbers::add);
        }
        return numbers;
    }

    /**
     * From now on the threads of this process run on these processors only, and so do processes that they start.
     *
     * @throws IOException if {@code taskset} is missing or refuses
     */
    static void limitTo(List<Integer> processors) throws IOException, InterruptedException {
        String list = processors.stream().map(String::valueOf).collect(Collectors.joining(","));
        Process taskset = new ProcessBuilder(
                        "taskset",
                        "--all-tasks",
                        "--cpu-list",
                        "--pid",
                        list,
                        Long.toString(ProcessHandle.current().pid()))
                .redirectErrorStream(true)
                .start();
        String output = new String(taskset.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (taskset.waitFor() != 0) {
            throw new IOException(
                    "taskset could not limit this process to the processors " + list + ": " + output.strip());
        }
    }
}
