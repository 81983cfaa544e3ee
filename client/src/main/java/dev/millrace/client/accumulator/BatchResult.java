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
    private final int number;
    private final CountDownLatch done = new CountDownLatch(1);

    /** The partition's result before this one, until it is done; {@code flush} goes back along these. */
    private volatile BatchResult previous;

    private long baseOffset = -1;
    private long logAppendTime = -1;
    private RuntimeException error;

    BatchResult(TopicPartition partition, BatchResult previous) {
        this.partition = partition;
        this.number = previous == null ? 1 : previous.number + 1;
        this.previous = previous;
    }

    void decide(long givenBaseOffset, long givenLogAppendTime, RuntimeException failure) {
        baseOffset = givenBaseOffset;
        logAppendTime = givenLogAppendTime;
        error = failure;
    }

    void publish() {
        done.countDown();
        while (previous != null && previous.isDone()) { // keeps the chain as short as what is on its way
            previous = previous.previous;
        }
    }

    /** The result of the batch opened before this one, or null if that one is done for good. */
    BatchResult previous() {
        return previous;
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

    /** Counts the batches of a partition: 1, 2, 3, …, wrapping. */
    int number() {
        return number;
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
