package dev.millrace.client.io;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * A call of an application's thread that the I/O threads carry out. If waiting takes too long, the call continues; the
 * application calls the same method again to wait again.
 *
 * <p><b>Threads:</b> completed by one thread at a time, under the lock of {@link TransactionState} or on the first I/O
 * thread; awaited by any.
 * <p><b>Ordering:</b> {@code error} is written before the latch is opened, and read after it.
 */
public final class TransactionCall {
    private final String name;
    private final CountDownLatch done = new CountDownLatch(1);
    private RuntimeException error;
    private volatile boolean observed;

    TransactionCall(String name) {
        this.name = name;
    }

    String name() {
        return name;
    }

    void complete() {
        done.countDown();
    }

    /** Only the first outcome counts. */
    void fail(RuntimeException reason) {
        if (done.getCount() > 0) {
            error = reason;
            done.countDown();
        }
    }

    /** Whether a caller has been told the outcome. */
    boolean isObserved() {
        return observed;
    }

    /**
     * Blocks until the outcome is known.
     *
     * @throws TimeoutException not within {@code maxBlockMs}; the call continues
     * @throws InterruptException interrupted while blocked; the call continues
     * @throws RuntimeException why the call failed
     */
    public void await(long maxBlockMs) {
        try {
            if (!done.await(maxBlockMs, TimeUnit.MILLISECONDS)) {
                throw new TimeoutException(name + " has not finished within max.block.ms = " + maxBlockMs
                        + " ms; it goes on, and can be called again to wait for it");
            }
        } catch (InterruptedException e) {
            throw new InterruptException("Interrupted in " + name, e);
        }
        observed = true;
        if (error != null) {
            throw error;
        }
    }
}
