package dev.millrace.mirror.cli;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Ends the process with the exit code of the command, even after SIGTERM or SIGINT: a JVM would exit with a code for
 * the signal, but a mirror that has committed all its records reports success.
 *
 * <p><b>Threads:</b> the main thread calls {@link #exit}, once; any thread may call the rest.
 */
final class Shutdown {
    /** The exit code that shells use: 128 plus the number of the signal. */
    private static final int INTERRUPTED = 130;

    private static final CompletableFuture<Integer> EXIT_CODE = new CompletableFuture<>();

    private Shutdown() {}

    /**
     * Makes a signal run an action that lets the command return; the process then waits for {@link #exit}.
     *
     * @param describeLeft says what is left at a second Ctrl-C; must not block
     */
    static void runOnSignal(Runnable stop, Supplier<String> describeLeft) {
        endAtOnceOnSecondInterrupt(describeLeft);
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> {
                            stop.run();
                            Runtime.getRuntime().halt(EXIT_CODE.join());
                        },
                        "mirror-shutdown"));
    }

    /** Lets the first Ctrl-C end the process as any signal does, and a second one end it immediately. */
    private static void endAtOnceOnSecondInterrupt(Supplier<String> describeLeft) {
        AtomicBoolean isFirst = new AtomicBoolean(true);
        Interrupts.handle(() -> {
            if (isFirst.getAndSet(false)) {
                System.err.println("mirror: stopping; a second Ctrl-C ends it at once");
                new Thread(() -> System.exit(INTERRUPTED), "mirror-interrupt").start(); // exit() waits for the hook
            } else {
                try {
                    System.err.println("mirror: ended at once by a second Ctrl-C; " + describeLeft.get());
                } finally {
                    Runtime.getRuntime().halt(INTERRUPTED);
                }
            }
        });
    }

    /** Ends the process. Never returns. */
    static void exit(int code) {
        EXIT_CODE.complete(code);
        System.exit(code);
    }
}
