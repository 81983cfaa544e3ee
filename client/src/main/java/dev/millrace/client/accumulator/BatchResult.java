package dev.millrace.client.accumulator;

import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;

/**
 * What became of a batch; all futures of its records look here, so that none of them has to be kept by the batch.
 *
 * <p><b>Threads:</b> the I/O thread decides once, runs the callbacks, then opens the latch; or it splits the batch, which
 * opens the latch too and sends the waiters on to the parts. Any thread waits.
 * <p><b>Ordering:</b> {@code decide} and {@code split} write plain fields before {@code countDown}; readers look at them
 * only after {@code await} or {@code getCount() == 0}, which is the acquire side, or on the I/O thread itself.
 */
public final class BatchResult {
    private final TopicPartition partition;
    private final int number;
    private final CountDownLatch settled = new CountDownLatch(1);

    /** The partition's result before this one, until it is done; {@code flush} goes back along these. */
    private volatile BatchResult previous;

    private BatchOutcome outcome;

    /** Null unless the batch was split; then there is no outcome here. */
    private BatchResult[] parts;

    private int[] firstRecords;

    BatchResult(TopicPartition partition, BatchResult previous) {
        this.partition = partition;
        this.number = previous == null ? 1 : previous.number + 1;
        this.previous = previous;
    }

    void decide(BatchOutcome known) {
        outcome = known;
    }

    void publish() {
        settled.countDown();
        forgetDone();
    }

    /** From {@code givenFirstRecords[i]} on, the records are now those of {@code givenParts[i]}. */
    void split(int[] givenFirstRecords, BatchResult[] givenParts) {
        firstRecords = givenFirstRecords;
        parts = givenParts;
        settled.countDown();
        forgetDone();
    }

    /** Keeps the chain as short as what is on its way. */
    private void forgetDone() {
        while (previous != null && previous.isDone()) {
            previous = previous.previous;
        }
    }

    /** The result of the batch opened before this one, or null if that one is done for good. */
    BatchResult previous() {
        return previous;
    }

    /** Whether every record has its outcome, wherever it went. A part is half as large as the whole, so this is not deep. */
    boolean isDone() {
        return isSettled() && (parts == null || Stream.of(parts).allMatch(BatchResult::isDone));
    }

    /** Whether the outcome is known, or there are parts to look at instead. */
    boolean isSettled() {
        return settled.getCount() == 0;
    }

    /** Blocks until the records of the batch are acknowledged or have failed, their callbacks included. */
    void await() throws InterruptedException {
        settled.await();
        if (parts != null) {
            for (BatchResult part : parts) {
                part.await();
            }
        }
    }

    /** Blocks until {@link #isSettled}. */
    void awaitSettled() throws InterruptedException {
        settled.await();
    }

    /** Blocks until {@link #isSettled}, and tells whether that happened within the time. */
    boolean awaitSettled(long time, TimeUnit unit) throws InterruptedException {
        return settled.await(time, unit);
    }

    /** Where the record went when the batch was split, or null if it was not; once {@link #isSettled}. */
    RecordPlace placeInParts(int record) {
        if (parts == null) {
            return null;
        }
        int found = Arrays.binarySearch(firstRecords, record);
        int part = found >= 0 ? found : -found - 2;
        return new RecordPlace(parts[part], record - firstRecords[part]);
    }

    /** Counts the batches of a partition: 1, 2, 3, …, wrapping. */
    int number() {
        return number;
    }

    TopicPartition partition() {
        return partition;
    }

    /** How the delivery has ended; once {@link #isSettled}, unless there are parts. */
    BatchOutcome outcome() {
        return outcome;
    }
}
