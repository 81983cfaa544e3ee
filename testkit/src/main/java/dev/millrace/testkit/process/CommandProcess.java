package dev.millrace.testkit.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A command in a process of its own, as a user starts it, and all that it prints. Killed on close.
 *
 * <p><b>Threads:</b> any.
 */
public class CommandProcess implements AutoCloseable {
    private final Process process;
    private final Queue<String> printed = new ConcurrentLinkedQueue<>();
    private final CompletableFuture<String> output;

    protected CommandProcess(ProcessBuilder command) {
        try {
            process = command.redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        output = CompletableFuture.supplyAsync(this::readAll);
    }

    /**
     * Starts a command that never outlives this JVM.
     *
     * @param folder whose reaper kills the command
     */
    public static CommandProcess start(ChildFolder folder, List<String> command) {
        CommandProcess started = new CommandProcess(new ProcessBuilder(
                Stream.concat(folder.launcher().stream(), command.stream()).toList()));
        folder.forgetAtEnd(started.process);
        return started;
    }

    /** Sends SIGTERM. Its further output can be read, unlike after {@link Process#destroy}. */
    public CommandProcess terminate() {
        process.toHandle().destroy();
        return this;
    }

    /** Sends SIGINT, as Ctrl-C does. */
    public void interrupt() {
        signal("INT");
    }

    /** Sends SIGKILL. */
    public CommandProcess kill() {
        process.destroyForcibly();
        return this;
    }

    /** Sends SIGSTOP: it keeps its connections and does nothing. */
    public void freeze() {
        signal("STOP");
    }

    /** Sends SIGCONT. */
    public void thaw() {
        signal("CONT");
    }

    private void signal(String name) {
        try {
            int exit = new ProcessBuilder("kill", "-" + name, Long.toString(pid()))
                    .start()
                    .waitFor();
            if (exit != 0) {
                throw new IllegalStateException("kill -" + name + " " + process.pid() + " ended with " + exit);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public long pid() {
        return process.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /**
     * Blocks until it has ended, and returns its exit code.
     *
     * @throws AssertionError if it does not end in time
     */
    public int awaitExit(Duration timeout) throws InterruptedException {
        if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new AssertionError("The command has not ended within " + timeout);
        }
        return process.exitValue();
    }

    /** What it printed to both streams. Blocks until it has ended. */
    public String output() {
        return output.join();
    }

    /** The lines that it has printed so far. */
    public Stream<String> printed() {
        return printed.stream();
    }

    /** Whether a line that it has printed so far contains this. */
    public boolean hasPrinted(String text) {
        return countPrinted(text) > 0;
    }

    /** How many lines that it has printed so far contain this. */
    public long countPrinted(String text) {
        return printed().filter(line -> line.contains(text)).count();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    private String readAll() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            lines.lines().forEach(printed::add);
            return String.join("\n", printed);
        } catch (UncheckedIOException | IOException e) {
            return "(closed: " + e + ")";
        }
    }
}
