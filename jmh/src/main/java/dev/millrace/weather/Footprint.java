package dev.millrace.weather;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a process keeps for itself, of which there must not be more from hour to hour.
 *
 * @param files that it has open, sockets among them
 * @param beans that it shows over JMX
 * @param megabytes of its live objects
 */
record Footprint(int threads, int files, int beans, int megabytes) {
    private static final String THREADS = "Threads:";
    /** The JVM has one of these for each bean. */
    private static final String BEAN = "com.sun.jmx.mbeanserver.NamedObject";

    private static final String ALL_OBJECTS = "Total";
    private static final int MEGA = 1_000_000;

    /** Pools that fill when more partitions begin, and connections to brokers that were not needed before, take some. */
    private static final int MORE_THREADS = 30;

    private static final int MORE_FILES = 30;
    /** Clients have some for each partition and each broker. */
    private static final int MORE_BEANS = 300;
    /** More than what is read ahead and not yet acknowledged. */
    private static final int MORE_MEGABYTES = 100;

    /** How much more than another time, beyond what a process may need: threads, files, beans and megabytes together. */
    int moreThan(Footprint before) {
        return Math.max(0, threads - before.threads - MORE_THREADS)
                + Math.max(0, files - before.files - MORE_FILES)
                + Math.max(0, beans - before.beans - MORE_BEANS)
                + Math.max(0, megabytes - before.megabytes - MORE_MEGABYTES);
    }

    @Override
    public String toString() {
        return threads + " threads, " + files + " files, " + beans + " beans and " + megabytes + " MB";
    }

    /**
     * Of a JVM that runs, on Linux. It collects its garbage first.
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
            List<String[]> objects = liveObjects(pid);
            int beans = objects.stream()
                    .filter(row -> row.length > 3 && row[3].equals(BEAN))
                    .mapToInt(row -> Integer.parseInt(row[1]))
                    .sum();
            long bytes = objects.stream()
                    .filter(row -> row[0].equals(ALL_OBJECTS))
                    .mapToLong(row -> Long.parseLong(row[2]))
                    .sum();
            return new Footprint(threads, (int) files.count(), beans, (int) (bytes / MEGA));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The rows of a table: number, count, bytes, class; at its end the sums. */
    private static List<String[]> liveObjects(long pid) throws IOException {
        Process tool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                        Long.toString(pid),
                        "GC.class_histogram")
                .redirectErrorStream(true)
                .start();
        List<String[]> rows;
        try (Stream<String> lines = tool.inputReader().lines()) {
            rows = lines.map(line -> line.strip().split("\\s+")).toList();
        }
        if (tool.onExit().join().exitValue() != 0) {
            throw new IOException("jcmd does not tell the objects of process " + pid);
        }
        return rows;
    }
}
