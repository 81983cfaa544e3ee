package dev.millrace.client.accumulator;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;

/**
 * What became of a batch; all futures of its records look here, so that none of them has to be kept by the batch.
 *
 * <p><b>Threads:</b> the I/O thread decides once, runs the callbacks, then opens the latch; any thread waits.
 * <p><b>Ordering:</b> {@code decide} writes plain fields before {@code countDown}; readers look at them only after
 * {@code await} or {@code getCount() == 0}, which is the acquire side, or on the I/O thread itself.
 */
public final class BatchResult {
    private final TopicPartition partition;
    private final CountDownLatch done = new CountDownLatch(1);

    private long baseOffset = -1;
    private long logAppendTime = -1;
    private RuntimeException error;

    BatchResult(TopicPartition partition) {
        this.partition = partition;
    }

    void decide(long givenBaseOffset, long givenLogAppendTime, RuntimeException failure) {
        baseOffset = givenBaseOffset;
        logAppendTime = givenLogAppendTime;
        error = failure;
    }

    void publish() {
        done.countDown();
    }

    boolean isDone() {
        return done.getCount() == 0;
    }

    /** Blocks until the records of the batch are acknowledged or have failed, their callbacks included. */
    public void await() throws InterruptedException {
        done.await();
    }

    boolean await(long time, TimeUnit unit) throws InterruptedException {
        return done.await(time, unit);
    }

    TopicPartition partition() {
        return partition;
    }

    long baseOffset() {
        return baseOffset;
    }

    long logAppendTime() {
        return logAppendTime;
    }

    RuntimeException error() {
        return error;
    }
}
