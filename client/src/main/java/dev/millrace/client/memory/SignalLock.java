package dev.millrace.client.memory;

import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;

/**
 * A lock that can be acquired, and whose conditions can be signalled, when the heap is used up. With a {@code
 * ReentrantLock} the first signal allocates the queue of the signalled threads; without heap it throws, and the thread
 * that it was for waits forever.
 *
 * <p><b>Threads:</b> any. Not reentrant.
 */
final class SignalLock extends AbstractQueuedSynchronizer {
    private static final long serialVersionUID = 1L;
    private static final long RETRY_NS = 1_000_000;

    SignalLock() {
        allocateQueue();
    }

    /** A thread that waits in vain for the lock allocates the queue. */
    private void allocateQueue() {
        boolean isInterrupted = Thread.interrupted();
        acquire(1);
        try {
            if (tryAcquireNanos(1, 1)) {
                throw new AssertionError("The lock was had twice");
            }
        } catch (InterruptedException e) {
            isInterrupted = true;
        } finally {
            release(1);
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    void lockInterruptibly() throws InterruptedException {
        acquireInterruptibly(1);
    }

    /** Waits for the lock. If another thread has it, that needs memory, which may become free. */
    void lock() {
        while (true) {
            try {
                acquire(1);
                return;
            } catch (OutOfMemoryError e) {
                LockSupport.parkNanos(RETRY_NS);
            }
        }
    }

    void unlock() {
        release(1);
    }

    Condition newCondition() {
        return new ConditionObject();
    }

    @Override
    protected boolean tryAcquire(int arg) {
        if (compareAndSetState(0, 1)) {
            setExclusiveOwnerThread(Thread.currentThread());
            return true;
        }
        return false;
    }

    @Override
    protected boolean tryRelease(int arg) {
        setExclusiveOwnerThread(null);
        setState(0);
        return true;
    }

    @Override
    protected boolean isHeldExclusively() {
        return getExclusiveOwnerThread() == Thread.currentThread();
    }
}
