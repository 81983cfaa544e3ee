package dev.millrace.mirror.support;

import dev.millrace.mirror.cli.Main;
import dev.millrace.testkit.process.ClassArchive;
import dev.millrace.testkit.process.JavaRuntime;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code mirror} in a process of its own, as a user starts it. Killed on close. */
public final class MirrorProcess implements AutoCloseable {
    private static final Pattern HTTP_ADDRESS = Pattern.compile("shows what it does at (http://\\S+)");

    private final Process process;
    private final Queue<String> printed = new ConcurrentLinkedQueue<>();
    private final CompletableFuture<String> output;

    private MirrorProcess(Process process) {
        this.process = process;
        this.output = CompletableFuture.supplyAsync(this::readAll);
    }

    public static MirrorProcess start(String... args) {
        ClassArchive archive = MirrorArchive.get();
        return startWith(archive.runtime(), archive.options(), args);
    }

    /** As the other, whatever the parent process does with Ctrl-C: what is ignored there would be ignored here, too. */
    public static MirrorProcess startForInterrupt(String... args) {
        ClassArchive archive = MirrorArchive.get();
        return start(List.of("env", "--default-signal=INT"), archive.runtime(), archive.options(), args);
    }

    /** As the others, with the caller's class path and options of the JVM. */
    public static MirrorProcess startWith(JavaRuntime runtime, List<String> options, String... args) {
        return start(List.of(), runtime, options, args);
    }

    private static MirrorProcess start(
            List<String> through, JavaRuntime runtime, List<String> options, String... args) {
        List<String> command = new ArrayList<>(through);
        command.add(runtime.home().resolve("bin/java").toString());
        command.addAll(options);
        // The JVM starts faster, and these runs are short.
        command.addAll(List.of("-Xmx512m", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of("-cp", runtime.classPath(), Main.class.getName()));
        command.addAll(Arrays.asList(args));
        return start(new ProcessBuilder(command));
    }

    /** Starts a mirror by a command and an environment of the caller's. */
    public static MirrorProcess start(ProcessBuilder command) {
        try {
            return new MirrorProcess(command.redirectErrorStream(true).start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends SIGTERM. Its further output can be read, unlike after {@link Process#destroy}. */
    public MirrorProcess terminate() {
        process.toHandle().destroy();
        return this;
    }

    /** Sends SIGINT, as Ctrl-C does. */
    public void interrupt() {
        signal("INT");
    }

    /** Sends SIGKILL. */
    public MirrorProcess kill() {
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
            int exit = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
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

    public boolean isAlive() {
        return process.isAlive();
    }

    public int awaitExit(Duration timeout) throws InterruptedException {
        if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new AssertionError("The mirror has not ended within " + timeout);
        }
        return process.exitValue();
    }

    /** What it printed to both streams. Blocks until it has ended. */
    public String output() {
        return output.join();
    }

    /** Whether a line that it has printed so far contains this. */
    public boolean hasPrinted(String text) {
        return countPrinted(text) > 0;
    }

    /** How many lines that it has printed so far contain this. */
    public long countPrinted(String text) {
        return printed.stream().filter(line -> line.contains(text)).count();
    }

    /** The address at which it has printed that it shows what it does; empty until it has. */
    public Optional<URI> httpAddress() {
        return printed.stream()
                .map(HTTP_ADDRESS::matcher)
                .filter(Matcher::find)
                .map(found -> URI.create(found.group(1)))
                .findFirst();
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
