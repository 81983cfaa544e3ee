package dev.millrace.mirror.control;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Whether a mirror runs, what stopped it, and which members have made their last commits.
 *
 * <p><b>Threads:</b> any.
 * <p><b>Ordering:</b> the first failure is written by a compare-and-set before the latch opens, and read after it. What
 * fails because of a step after {@link #end} sees that the mirror has ended.
 */
public final class Lifecycle {
    private final CountDownLatch stopping = new CountDownLatch(1);
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final CountDownLatch uncommitted;
    private volatile boolean hasEnded;

    /** @param members that will commit all they can once the mirror stops */
    public Lifecycle(int members) {
        this.uncommitted = new CountDownLatch(members);
    }

    /** Tells the mirror to stop. Does not wait for that. */
    public void stop() {
        stopping.countDown();
    }

    public boolean isRunning() {
        return stopping.getCount() > 0;
    }

    /** Waits until the mirror is told to stop, for at most this long, and returns whether it was told. */
    public boolean awaitStop(long time, TimeUnit unit) throws InterruptedException {
        return stopping.await(time, unit);
    }

    /** Stops the mirror because of a failure. Later failures are ignored, as they may be consequences. */
    public void fail(Throwable cause) {
        if (!hasEnded) {
            failure.compareAndSet(null, cause);
        }
        stop();
    }

    /** Ignores failures from now on, because what threads may still use is about to be closed. */
    public void end() {
        hasEnded = true;
    }

    /** Runs one step of a member's shutdown. If it throws, the mirror fails, and the next steps still run. */
    public void attempt(Runnable step) {
        try {
            step.run();
        } catch (Throwable cause) {
            fail(cause);
        }
    }

    /** Returns what stopped the mirror; null if nothing failed. */
    public Throwable failureOrNull() {
        return failure.get();
    }

    /** Called by each member once it has committed all it could. */
    public void onMemberCommitted() {
        uncommitted.countDown();
    }

    /** Whether all members have committed all they could. */
    public boolean haveAllCommitted() {
        return uncommitted.getCount() == 0;
    }
}
