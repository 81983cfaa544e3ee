package dev.millrace.mirror.control;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Creates threads for work that is done at intervals. */
public final class Timers {
    private Timers() {}

    /** Returns a timer with one thread of this name, which does not keep the process alive. */
    public static ScheduledExecutorService daemon(String name) {
        return Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        });
    }

    /** Repeats this work once a second, even after it has thrown; passes what it throws to the caller's handler. */
    public static void repeat(ScheduledExecutorService timer, Runnable work, Consumer<Throwable> onFailure) {
        timer.scheduleWithFixedDelay(
                () -> {
                    try {
                        work.run();
                    } catch (Throwable failure) {
                        if (!timer.isShutdown()) { // otherwise the shutdown interrupted it
                            onFailure.accept(failure);
                        }
                    }
                },
                1,
                1,
                TimeUnit.SECONDS);
    }
}
