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
 * Counts the readings of the clock by a child JVM, the JVM's own included. {@code strace} cannot see them, as they do not
 * enter the kernel; so a library of a few lines of C stands before the system's. It is built when it is needed.
 */
final class ClockReadCounter {
    private final Path library;
    private final Path count;

    private ClockReadCounter(Path library, Path count) {
        this.library = library;
        this.count = count;
    }

    /** Empty when there is no C compiler. */
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

    /** For the child to have. */
    Map<String, String> environment() {
        return Map.of("LD_PRELOAD", library.toString(), "CLOCK_READS", count.toString());
    }

    /** So far, of all children. */
    long count() throws IOException {
        return ByteBuffer.wrap(Files.readAllBytes(count))
                .order(ByteOrder.nativeOrder())
                .getLong();
    }
}
