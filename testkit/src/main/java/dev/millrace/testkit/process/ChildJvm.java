package dev.millrace.testkit.process;

import dev.millrace.testkit.Await;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A child JVM. It never outlives this JVM (see {@link ChildFolder}). It ignores a terminal's Ctrl-C, because the parent
 * decides when it ends. It writes its output to a file of the folder.
 *
 * <p><b>Threads:</b> one at a time.
 */
public final class ChildJvm {
    private static final String READY_FILE = "millrace.testkit.ready";
    private static final Duration PAUSE_TIMEOUT = Duration.ofSeconds(30);
    private static final int SHOWN_LOG_LINES = 40;

    private final String name;
    private final Path log;
    private final Path readyFile;
    private final Process process;

    /**
     * Starts the child and returns at once.
     *
     * @param name unique among the running children of the folder; also the name of its log file
     * @param options for the JVM, such as {@code -Xmx512m}
     */
    public ChildJvm(
            ChildFolder folder,
            String name,
            JavaRuntime runtime,
            List<String> options,
            Class<?> main,
            String... arguments) {
        this(folder, name, runtime, options, main.getName(), arguments);
    }

    ChildJvm(
            ChildFolder folder,
            String name,
            JavaRuntime runtime,
            List<String> options,
            String main,
            String... arguments) {
        this.name = name;
        log = folder.path().resolve(name + ".log");
        readyFile = folder.path().resolve(name + ".ready");

        List<String> command = new ArrayList<>(folder.launcher());
        command.add(runtime.home().resolve("bin/java").toString());
        command.addAll(options);
        command.add("-D" + READY_FILE + "=" + readyFile);
        // So that what a killed JVM leaves, such as unpacked native libraries, is removed with the folder.
        command.add("-Djava.io.tmpdir=" + folder.path());
        command.add("-XX:-UsePerfData");
        command.add("-Dslf4j.provider=" + ChildLog.class.getName());
        command.add("-Dslf4j.internal.verbosity=ERROR");
        command.addAll(List.of("-cp", runtime.classPath(), main));
        command.addAll(List.of(arguments));
        try {
            Files.deleteIfExists(readyFile);
            ProcessBuilder builder = new ProcessBuilder(command);
            builder.environment().putAll(runtime.environment());
            process = builder.redirectInput(new File("/dev/null"))
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot start " + name, e);
        }
        folder.forgetAtEnd(process);
    }

    /**
     * Called by the child: tells the parent that it is ready to serve.
     *
     * @param text what the parent needs to know, such as a port
     */
    public static void reportReady(String text) throws IOException {
        Path ready = Path.of(System.getProperty(READY_FILE));
        Path unfinished = Path.of(ready + ".part");
        Files.writeString(unfinished, text);
        Files.move(unfinished, ready, StandardCopyOption.ATOMIC_MOVE);
    }

    /**
     * Whether the child has called {@link #reportReady}.
     *
     * @throws IllegalStateException if it has ended instead; the message has the last lines of its log
     */
    public boolean isReady() {
        if (!process.isAlive()) {
            throw new IllegalStateException(
                    name + " ended with exit code " + process.exitValue() + ". Its last output:\n" + lastOutput());
        }
        return Files.exists(readyFile);
    }

    /** Blocks until the child is ready, and returns the text it reported; throws as {@link #isReady} does. */
    public String awaitReady(Duration timeout) {
        Await.until(name + " is ready", timeout, this::isReady);
        try {
            return Files.readString(readyFile);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    long pid() {
        return process.pid();
    }

    /**
     * The CPU time that the child has used since its start; nothing if it has ended or the system does not tell. On Linux
     * it is counted in steps of 10 ms.
     */
    public Optional<Duration> cpuTime() {
        return process.info().totalCpuDuration();
    }

    /** Sends SIGKILL; blocks until the child has ended. */
    public void kill() {
        process.destroyForcibly();
        endsWithin(Duration.ofSeconds(30));
    }

    /** Sends SIGTERM, and SIGKILL if that takes longer; blocks until the child has ended. Resumes a paused child. */
    public void stop(Duration timeout) {
        if (!process.isAlive()) {
            return;
        }
        process.destroy();
        resume();
        if (!endsWithin(timeout)) {
            kill();
        }
    }

    /** Sends SIGSTOP: the child keeps its connections and does nothing. Blocks until all its threads have stopped. */
    public void pause() {
        signal("STOP");
        Path threads = Path.of("/proc", Long.toString(process.pid()), "task");
        if (Files.isDirectory(threads)) { // not there on macOS, where we trust that a signal is quick
            Await.until(name + " is paused", PAUSE_TIMEOUT, () -> allStopped(threads));
        }
    }

    private static boolean allStopped(Path threads) {
        try (Stream<Path> all = Files.list(threads)) {
            return all.allMatch(ChildJvm::isStopped);
        } catch (IOException e) {
            return false; // a thread has ended in between, so it was running
        }
    }

    private static boolean isStopped(Path thread) {
        try {
            String stat = Files.readString(thread.resolve("stat"));
            return stat.startsWith("T", stat.lastIndexOf(')') + 2); // the state follows the name in parentheses
        } catch (IOException e) {
            return false;
        }
    }

    /** Sends SIGCONT: a paused child continues. */
    public void resume() {
        signal("CONT");
    }

    /**
     * Blocks until the child has ended, and returns its exit code.
     *
     * @throws IllegalStateException if that takes longer; the message has its last output
     */
    int awaitEnd(Duration timeout) {
        if (!endsWithin(timeout)) {
            throw new IllegalStateException(
                    name + " has not ended within " + timeout.toSeconds() + " s. Its last output:\n" + lastOutput());
        }
        return process.exitValue();
    }

    String lastOutput() {
        List<String> lines = output().lines().toList();
        return String.join("\n", lines.subList(Math.max(0, lines.size() - SHOWN_LOG_LINES), lines.size()));
    }

    /** All that it has written to standard output and standard error. */
    String output() {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            return "(none: " + e + ")";
        }
    }

    private boolean endsWithin(Duration timeout) {
        try {
            return process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for the end of " + name, e);
        }
    }

    private void signal(String signal) {
        try {
            // The builtin of the shell: slim systems have no kill program.
            new ProcessBuilder("/bin/sh", "-c", "kill -" + signal + " " + process.pid())
                    .redirectErrorStream(true)
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot send SIG" + signal + " to " + name, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while sending SIG" + signal + " to " + name, e);
        }
    }
}
