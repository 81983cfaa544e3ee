package dev.millrace.mirror.cli;

import java.util.concurrent.CompletableFuture;

/**
 * Ends the process with the exit code of the command, also when SIGTERM or SIGINT cut it short: a JVM would report the
 * signal, but a mirror that has drained reports success.
 *
 * <p><b>Threads:</b> the main thread calls {@link #exit}, once; any may call the rest.
 */
final class Shutdown {
    private static final CompletableFuture<Integer> EXIT_CODE = new CompletableFuture<>();

    private Shutdown() {}

    /** Has a signal run this, which is to make the command return, and then wait for it. */
    static void runOnSignal(Runnable stop) {
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> {
                            stop.run();
                            Runtime.getRuntime().halt(EXIT_CODE.join());
                        },
                        "mirror-shutdown"));
    }

    static void exit(int code) {
        EXIT_CODE.complete(code);
        System.exit(code);
    }
}
