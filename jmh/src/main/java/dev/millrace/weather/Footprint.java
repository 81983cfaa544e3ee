package dev.millrace.weather;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * What a process keeps for itself, of which there must not be more from hour to hour.
 *
 * @param files that it has open, sockets among them
 */
record Footprint(int threads, int files) {
    private static final String THREADS = "Threads:";
    /** Pools that fill when more partitions begin, and connections to brokers that were not needed before, take some. */
    private static final int MORE_THREADS = 30;

    private static final int MORE_FILES = 30;

    /** How many threads and files more than another time, beyond what a process may need. */
    int moreThan(Footprint before) {
        return Math.max(0, threads - before.threads - MORE_THREADS) + Math.max(0, files - before.files - MORE_FILES);
    }

    @Override
    public String toString() {
        return threads + " threads and " + files + " files";
    }

    /**
     * Of a process that runs, on Linux.
     *
     * @throws UncheckedIOException if it does not run
     */
    static Footprint of(long pid) {
        Path process = Path.of("/proc", Long.toString(pid));
        try (Stream<String> status = Files.lines(process.resolve("status"));
                Stream<Path> files = Files.list(process.resolve("fd"))) {
            int threads = status.filter(line -> line.startsWith(THREADS))
                    .mapToInt(line ->
                            Integer.parseInt(line.substring(THREADS.length()).strip()))
                    .sum();
            return new Footprint(threads, (int) files.count());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
