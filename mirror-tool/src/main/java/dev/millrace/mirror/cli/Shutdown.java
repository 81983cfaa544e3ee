package dev.millrace.mirror.cli;

import java.util.concurrent.CompletableFuture;

/**
 * Ends the process with the exit code of the command, also after SIGTERM or SIGINT: a JVM would exit with a code for
 * the signal, but a mirror that has committed all its records reports success.
 *
 * <p><b>Threads:</b> the main thread calls {@link #exit}, once; any thread may call the rest.
 */
final class Shutdown {
    private static final CompletableFuture<Integer> EXIT_CODE = new CompletableFuture<>();

    private Shutdown() {}

    /** Makes a signal run an action that lets the command return; the process then waits for {@link #exit}. */
    static void runOnSignal(Runnable stop) {
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> {
                            stop.run();
                            Runtime.getRuntime().halt(EXIT_CODE.join());
                        },
                        "mirror-shutdown"));
    }

    /** Ends the process. Never returns. */
    static void exit(int code) {
        EXIT_CODE.complete(code);
        System.exit(code);
    }
}
