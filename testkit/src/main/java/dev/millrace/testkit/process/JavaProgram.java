package dev.millrace.testkit.process;

import java.time.Duration;
import java.util.List;

/**
 * Runs a main class in its own JVM, as a user would, and can kill it, as a power cut would. It never outlives this JVM.
 *
 * <p><b>Threads:</b> one at a time.
 */
public final class JavaProgram implements AutoCloseable {
    private final ChildFolder folder = ChildFolder.create("millrace-program-");
    private final ChildJvm child;

    private JavaProgram(JavaRuntime runtime, List<String> options, String main, String... arguments) {
        try {
            String name = main.substring(main.lastIndexOf('.') + 1);
            child = new ChildJvm(folder, name, runtime, options, main, arguments);
        } catch (RuntimeException e) {
            folder.close();
            throw e;
        }
    }

    /**
     * Starts the program and returns at once.
     *
     * @param options for the JVM, such as {@code -Xmx512m}
     * @param main its {@code main} method is public; the class need not be
     */
    public static JavaProgram start(JavaRuntime runtime, List<String> options, Class<?> main, String... arguments) {
        return start(runtime, options, main.getName(), arguments);
    }

    /** The same for a main class that this JVM does not have. */
    public static JavaProgram start(JavaRuntime runtime, List<String> options, String main, String... arguments) {
        return new JavaProgram(runtime, options, main, arguments);
    }

    public boolean isAlive() {
        return child.isAlive();
    }

    /** The process id. */
    public long pid() {
        return child.pid();
    }

    /** Sends SIGKILL; blocks until it has ended. */
    public void kill() {
        child.kill();
    }

    /** Sends SIGTERM, and SIGKILL if that takes longer; blocks until it has ended. */
    public void stop(Duration timeout) {
        child.stop(timeout);
    }

    /**
     * Blocks until it has ended, and returns its exit code.
     *
     * @throws IllegalStateException if it does not end in time; the message has its last output
     */
    public int awaitEnd(Duration timeout) {
        return child.awaitEnd(timeout);
    }

    /**
     * All that it has written to standard output and standard error so far, with the warnings and errors that it
     * logged.
     */
    public String output() {
        return child.output();
    }

    /** Kills it, and removes its output and temporary files. */
    @Override
    public void close() {
        folder.close();
    }
}
