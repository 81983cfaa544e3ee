package dev.millrace.mirror.demo;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * The CPU time of this JVM's compiler threads, as Linux counts it for each thread. A mirror that runs for days does not
 * pay for them.
 *
 * <p><b>Threads:</b> any.
 */
final class CompilerCpu {
    private static final Path THREADS = Path.of("/proc/self/task");

    /** Linux counts in steps of 10 ms on all architectures that Java runs on. */
    private static final long NANOS_PER_TICK = TimeUnit.MILLISECONDS.toNanos(10);

    /** The places of user and system time among the fields of a thread that follow its name. */
    private static final int USER_FIELD = 11;

    private static final int SYSTEM_FIELD = 12;

    private CompilerCpu() {}

    /** Nanoseconds since the start of the JVM; NaN on other systems than Linux. */
    static double nanos() {
        if (!Files.isDirectory(THREADS)) {
            return Double.NaN;
        }
        long ticks = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(THREADS)) {
            for (Path thread : threads) {
                ticks += ticksIfCompiler(thread);
            }
        } catch (IOException e) {
            return Double.NaN;
        }
        return (double) ticks * NANOS_PER_TICK;
    }

    private static long ticksIfCompiler(Path thread) {
        try {
            String stat = Files.readString(thread.resolve("stat"));
            int nameEnd = stat.lastIndexOf(')');
            String name = stat.substring(stat.indexOf('(') + 1, nameEnd);
            if (!name.startsWith("C1 Compiler") && !name.startsWith("C2 Compiler")) {
                return 0;
            }
            String[] fields = stat.substring(nameEnd + 2).split(" ", -1);
            return Long.parseLong(fields[USER_FIELD]) + Long.parseLong(fields[SYSTEM_FIELD]);
        } catch (IOException e) {
            return 0; // the thread has ended
        }
    }
}
