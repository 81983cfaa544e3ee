package dev.millrace.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/**
 * One row of faults, one after the other, each chosen by the seed. Every kind occurs once before any occurs again. Each
 * fault ends by repairing what it broke.
 */
public abstract class Faults implements Runnable {
    private static final Duration POLL_INTERVAL = Duration.ofMillis(20);

    private final CountDownLatch end;
    protected final Random random;
    protected final FaultLog log;

    /** @param end faults begin until it is counted down */
    protected Faults(Random random, FaultLog log, CountDownLatch end) {
        this.random = random;
        this.log = log;
        this.end = end;
    }

    /** Blocks for this time and until the last faults are over; returns what went wrong in the faults themselves. */
    public static List<String> runAll(List<Faults> rows, CountDownLatch end, Duration time)
            throws InterruptedException {
        ExecutorService threads = Executors.newFixedThreadPool(rows.size());
        List<Future<?>> running = rows.stream().map(threads::submit).collect(Collectors.toList());
        threads.shutdown();
        var unused = end.await(time.toMillis(), TimeUnit.MILLISECONDS); // earlier if a row fails
        end.countDown();
        List<String> failures = new ArrayList<>();
        for (Future<?> row : running) {
            try {
                row.get();
            } catch (ExecutionException e) {
                failures.add("The cluster: " + e.getCause());
            }
        }
        return failures;
    }

    /** The kinds of faults; running one blocks until it is over. */
    protected abstract List<Runnable> kinds();

    /** The pause before each fault. */
    protected abstract Duration pause();

    /** If it fails, all faults end: the rest of the time would test less than it seems to. */
    @Override
    public final void run() {
        try {
            breakUntilTheEnd();
        } finally {
            end.countDown();
        }
    }

    private void breakUntilTheEnd() {
        while (true) {
            List<Runnable> kinds = new ArrayList<>(kinds());
            Collections.shuffle(kinds, random);
            for (Runnable fault : kinds) {
                hold(pause());
                if (end.getCount() == 0) {
                    return;
                }
                fault.run();
            }
        }
    }

    /** Lets the present state last, at most until the end of all faults. */
    protected final void hold(Duration time) {
        try {
            var unused = end.await(time.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted in a fault", e);
        }
    }

    /** Lets the present state last until the condition holds; false if it does not within this time. */
    protected final boolean holdUntil(Duration time, BooleanSupplier condition) {
        long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - startNs > time.toNanos()) {
                return false;
            }
            hold(POLL_INTERVAL);
        }
        return true;
    }

    /** A time from the first, inclusive, to the second, exclusive. */
    protected final Duration between(int fromMs, int toMs) {
        return Duration.ofMillis(fromMs + random.nextInt(toMs - fromMs));
    }
}
