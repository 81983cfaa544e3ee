package dev.millrace.client.accumulator;

import dev.millrace.client.raw.RawResult;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * The result of a batch. All futures of its records read it, so the batch need not keep them.
 *
 * <p><b>Threads:</b> the I/O thread decides once, runs the callbacks, then opens the latch. Or it splits the batch,
 * which also opens the latch, and sends waiting threads on to the parts. Any thread waits.
 * <p><b>Ordering:</b> {@code decide}, {@code publish} and {@code forwardToParts} write plain fields before {@code
 * countDown}. Other threads read them only after {@code await} or {@code getCount() == 0}, which acquire.
 */
public final class BatchResult implements RawResult {
    private final TopicPartition partition;
    private final int number;
    private final CountDownLatch settled = new CountDownLatch(1);

    /** The partition's previous result until that is done; {@code flush} follows these backwards. */
    private volatile BatchResult previous;

    private BatchOutcome outcome;

    /** The parts; null unless the batch was split, in which case this result has no outcome. */
    private BatchResult[] parts;

    private int[] firstRecords;
    private long doneAtMs;

    BatchResult(TopicPartition partition, BatchResult previous) {
        this.partition = partition;
        this.number = previous == null ? 1 : previous.number + 1;
        this.previous = previous;
    }

    void decide(BatchOutcome known) {
        outcome = known;
    }

    void publish() {
        doneAtMs = System.currentTimeMillis();
        settled.countDown();
        unlinkDone();
    }

    /** The batch was split: its records from {@code givenFirstRecords[i]} on are in {@code givenParts[i]}. */
    void forwardToParts(int[] givenFirstRecords, BatchResult[] givenParts) {
        firstRecords = givenFirstRecords;
        parts = givenParts;
        settled.countDown();
        unlinkDone();
    }

    /** Removes results that are done from the chain. */
    private void unlinkDone() {
        while (previous != null && previous.isDone()) {
            previous = previous.previous;
        }
    }

    /** Returns the result of the batch opened before this one, or null if that one is done. */
    BatchResult previous() {
        return previous;
    }

    /**
     * Whether every record has its outcome, including those in parts. Each split halves a batch, so recursion is
     * shallow.
     */
    @Override
    public boolean isDone() {
        return isSettled() && (parts == null || Stream.of(parts).allMatch(BatchResult::isDone));
    }

    @Override
    public RuntimeException failureOrNull() {
        if (!isDone()) {
            throw new IllegalStateException("A batch for " + partition + " has no outcome yet");
        }
        if (parts == null) {
            return outcome.firstErrorOrNull();
        }
        return Stream.of(parts)
                .map(BatchResult::failureOrNull)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    @Override
    public int acknowledgedBeforeFailure() {
        if (failureOrNull() == null) {
            throw new IllegalStateException("A batch for " + partition + " has not failed");
        }
        if (parts == null) {
            return 0; // a broker writes a batch whole or not at all
        }
        int part = 0;
        while (parts[part].failureOrNull() == null) {
            part++;
        }
        return firstRecords[part] + parts[part].acknowledgedBeforeFailure();
    }

    @Override
    public long doneAtMs() {
        return parts == null
                ? doneAtMs
                : Stream.of(parts).mapToLong(BatchResult::doneAtMs).max().orElseThrow();
    }

    @Override
    public long offsetOf(int record) {
        if (!isDone()) {
            throw new IllegalStateException("A batch for " + partition + " has no outcome yet");
        }
        RecordPlace place = placeInParts(record);
        if (place != null) {
            return place.batch().offsetOf(place.index());
        }
        return outcome.baseOffset() < 0 ? -1 : outcome.baseOffset() + record;
    }

    /** Whether the outcome is known, or the batch was split. */
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

    /** Blocks until {@link #isSettled}; returns false if that took longer than the time. */
    boolean awaitSettled(long time, TimeUnit unit) throws InterruptedException {
        return settled.await(time, unit);
    }

    /** Returns the record's place in the parts once {@link #isSettled}, or null if the batch was not split. */
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

    /** Returns the metadata of an accepted record. */
    RecordMetadata metadata(int index, long timestamp, int keySize, int valueSize) {
        long timestampInLog = outcome.logAppendTime() == -1 ? timestamp : outcome.logAppendTime();
        return new RecordMetadata(partition, outcome.baseOffset(), index, timestampInLog, keySize, valueSize);
    }

    /** Returns how the delivery ended once {@link #isSettled}; null if the batch was split. */
    BatchOutcome outcome() {
        return outcome;
    }
}
