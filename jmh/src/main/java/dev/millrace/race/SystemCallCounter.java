package dev.millrace.race;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Counts the system calls of a running process: by the kernel's own counters where {@link PerfStat} may read them, else by
 * {@link Strace}, which slows the process down and so changes what is counted.
 */
interface SystemCallCounter {
    /** The counter of writes of 8 bytes: those to an event descriptor, which wake a selector up. */
    String WAKE_UP = "wake-up";

    /**
     * Detaches.
     *
     * @return how often each system call was made, by its name; {@link #WAKE_UP} apart if it can be told from other writes
     */
    Map<String, Long> stop() throws IOException, InterruptedException;

    /**
     * Attaches to all threads of a process, and blocks until it has.
     *
     * @throws RaceException when it may not
     */
    static SystemCallCounter attach(long pid, Path folder) throws IOException, InterruptedException {
        return PerfStat.isUsable() ? PerfStat.attach(pid, folder) : Strace.attach(pid, folder);
    }

    /** Ends a counter in the way that makes it write down what it has counted. */
    static void endAndAwait(Process counter) throws IOException, InterruptedException {
        Process interrupt = new ProcessBuilder("/bin/sh", "-c", "kill -INT " + counter.pid()).start();
        int unused = interrupt.waitFor();
        counter.getInputStream().readAllBytes();
        unused = counter.waitFor();
    }

    /** Whether there is such a program. */
    static boolean isOnPath(String program) {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(":", -1))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }
}
