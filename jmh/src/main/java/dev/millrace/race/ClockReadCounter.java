package dev.millrace.race;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * Counts how often a child JVM reads the clock, the JVM's own reads included. {@code strace} cannot see them, because
 * they do not enter the kernel; therefore a preloaded library of a few lines of C counts them. It is compiled here.
 */
final class ClockReadCounter {
    private final Path library;
    private final Path count;

    private ClockReadCounter(Path library, Path count) {
        this.library = library;
        this.count = count;
    }

    /** Compiles the library; returns empty if there is no C compiler. */
    static Optional<ClockReadCounter> prepare(Path source, Path folder) throws IOException, InterruptedException {
        if (!SystemCallCounter.isOnPath("cc")) {
            return Optional.empty();
        }
        Path library = folder.resolve("clock-reads.so");
        Process compiler = new ProcessBuilder(
                        "cc", "-O2", "-shared", "-fPIC", "-o", library.toString(), source.toString(), "-ldl")
                .redirectErrorStream(true)
                .start();
        String output = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (compiler.waitFor() != 0) {
            throw new RaceException("cc cannot build " + source + ":\n" + output);
        }
        Path count = folder.resolve("clock-reads");
        Files.write(count, new byte[Long.BYTES]);
        return Optional.of(new ClockReadCounter(library, count));
    }

    /** The environment variables that the child JVM needs. */
    Map<String, String> environment() {
        return Map.of("LD_PRELOAD", library.toString(), "CLOCK_READS", count.toString());
    }

    /** The clock reads of all children so far. */
    long count() throws IOException {
        return ByteBuffer.wrap(Files.readAllBytes(count))
                .order(ByteOrder.nativeOrder())
                .getLong();
    }
}
