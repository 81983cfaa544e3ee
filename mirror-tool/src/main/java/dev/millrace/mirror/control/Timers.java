package dev.millrace.mirror.control;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Threads for work that is done at intervals. */
public final class Timers {
    private Timers() {}

    /** A timer with one thread of this name, which does not keep the process alive. */
    public static ScheduledExecutorService daemon(String name) {
        return Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        });
    }

    /** Does this once a second, also after it has thrown, of which the caller is told. */
    public static void repeat(ScheduledExecutorService timer, Runnable work, Consumer<Throwable> onFailure) {
        timer.scheduleWithFixedDelay(
                () -> {
                    try {
                        work.run();
                    } catch (Throwable failure) {
                        if (!timer.isShutdown()) { // else it is the interrupt
                            onFailure.accept(failure);
                        }
                    }
                },
                1,
                1,
                TimeUnit.SECONDS);
    }
}
