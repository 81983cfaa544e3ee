package dev.millrace.race;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Counts the system calls of a running process: with {@link PerfStat} if it may read the kernel's counters, else with
 * {@link Strace}, which slows the process and so changes what is counted.
 */
interface SystemCallCounter {
    /** The name under which writes of 8 bytes are counted: those to an event descriptor, which wake up a selector. */
    String WAKE_UP = "wake-up";

    /**
     * Detaches from the process.
     *
     * @return how often each system call was made, by name; {@link #WAKE_UP} separately if it can be told from other
     *     writes
     */
    Map<String, Long> stop() throws IOException, InterruptedException;

    /**
     * Attaches to all threads of a process; blocks until it has done so.
     *
     * @throws RaceException if that is not permitted
     */
    static SystemCallCounter attach(long pid, Path folder) throws IOException, InterruptedException {
        return PerfStat.isUsable() ? PerfStat.attach(pid, folder) : Strace.attach(pid, folder);
    }

    /** Ends the counting program by SIGINT, so that it writes its counts, and waits until it has. */
    static void endAndAwait(Process counter) throws IOException, InterruptedException {
        Process interrupt = new ProcessBuilder("/bin/sh", "-c", "kill -INT " + counter.pid()).start();
        int unused = interrupt.waitFor();
        counter.getInputStream().readAllBytes();
        unused = counter.waitFor();
    }

    /** Whether a program is on the {@code PATH}. */
    static boolean isOnPath(String program) {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(":", -1))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }
}
