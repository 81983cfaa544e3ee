package dev.millrace.client.accumulator;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Threads that start together. The first failure of any of them fails the test. */
public final class Workers {
    /** How long a test may stand still before it counts as hung; far above what any of them takes. */
    public static final long HANG_MS = 60_000;

    private final List<Thread> threads = new ArrayList<>();
    private final List<Work> works = new ArrayList<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    /** What one thread does. */
    public interface Work {
        void run() throws Exception;
    }

    public Workers add(int count, Work work) {
        for (int i = 0; i < count; i++) {
            works.add(work);
        }
        return this;
    }

    public Workers start() {
        CyclicBarrier together = new CyclicBarrier(works.size());
        for (Work work : works) {
            Thread thread = new Thread(() -> run(work, together), "worker-" + threads.size());
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        return this;
    }

    private void run(Work work, CyclicBarrier together) {
        try {
            together.await();
            work.run();
        } catch (InterruptedException | BrokenBarrierException e) {
            failure.compareAndSet(null, new AssertionError("Interrupted by nobody", e));
        } catch (Throwable t) { // handed to the test's thread
            failure.compareAndSet(null, t);
        }
    }

    public boolean hasFailed() {
        return failure.get() != null;
    }

    /** Waits for all to end, and throws what any of them threw. */
    public void join() throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(HANG_MS);
        for (Thread thread : threads) {
            while (thread.isAlive() && !hasFailed()) {
                thread.join(100);
                if (thread.isAlive() && System.nanoTime() - deadline > 0) {
                    AssertionError hung = new AssertionError(thread.getName() + " hangs");
                    hung.setStackTrace(thread.getStackTrace());
                    throw hung;
                }
            }
        }
        if (hasFailed()) {
            throw new AssertionError("A worker failed: " + failure.get(), failure.get());
        }
    }

    public Thread thread(int index) {
        return threads.get(index);
    }

    /** Widens the window of a twin's weakness, which otherwise is a few instructions wide. */
    public static void hold() {
        for (int i = 0; i < 200; i++) {
            Thread.onSpinWait();
        }
    }

    /** Waits for a condition that other threads make true. */
    public static void until(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(HANG_MS);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("Timed out waiting until " + what);
            }
            LockSupport.parkNanos(50_000);
        }
    }

    /** Waits until the thread is parked with a time limit, as threads that wait for memory or an image are. */
    public static void untilWaiting(Thread thread) {
        until(thread.getName() + " waits", () -> thread.getState() == Thread.State.TIMED_WAITING);
    }
}
