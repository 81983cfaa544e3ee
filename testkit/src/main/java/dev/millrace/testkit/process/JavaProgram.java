package dev.millrace.testkit.process;

import java.time.Duration;
import java.util.List;

/**
 * A main class in a JVM of its own, as a user would run it, or another user's power cut would end it. It never outlives
 * this JVM. One thread at a time.
 */
public final class JavaProgram implements AutoCloseable {
    private final ChildFolder folder = ChildFolder.create("millrace-program-");
    private final ChildJvm child;

    private JavaProgram(JavaRuntime runtime, List<String> options, Class<?> main, String... arguments) {
        try {
            child = new ChildJvm(folder, main.getSimpleName(), runtime, options, main, arguments);
        } catch (RuntimeException e) {
            folder.close();
            throw e;
        }
    }

    /**
     * Starts it and returns at once.
     *
     * @param options for the JVM, such as {@code -Xmx512m}
     * @param main may be package-private
     */
    public static JavaProgram start(JavaRuntime runtime, List<String> options, Class<?> main, String... arguments) {
        return new JavaProgram(runtime, options, main, arguments);
    }

    public boolean isAlive() {
        return child.isAlive();
    }

    /** Its process id. */
    public long pid() {
        return child.pid();
    }

    /** SIGKILL; blocks until it has ended. */
    public void kill() {
        child.kill();
    }

    /** SIGTERM, and after the given patience SIGKILL; blocks until it has ended. */
    public void stop(Duration patience) {
        child.stop(patience);
    }

    /**
     * Blocks until it has ended, and returns its exit code.
     *
     * @throws IllegalStateException when it does not end in time; with its last output
     */
    public int awaitEnd(Duration timeout) {
        return child.awaitEnd(timeout);
    }

    /** All it has written to either stream so far, warnings and errors of its log included. */
    public String output() {
        return child.output();
    }

    /** Kills it, and removes its output and temporary files. */
    @Override
    public void close() {
        folder.close();
    }
}
