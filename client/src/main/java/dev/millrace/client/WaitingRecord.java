package dev.millrace.client;

import dev.millrace.client.accumulator.EncodableRecord;
import dev.millrace.client.accumulator.RecordEncoder;
import dev.millrace.client.delivery.DeliveryCertainty;
import dev.millrace.client.delivery.DeliveryFuture;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * A serialized record that waits until its topic is known; also the record's future.
 *
 * <p><b>Threads:</b> {@code endWait} once, by the first I/O thread, which alone uses the chosen partition; the rest by
 * any thread. {@code get} and {@code await} block. It cannot be cancelled.
 */
final class WaitingRecord<K, V> implements DeliveryFuture {
    private final ProducerRecord<K, V> record;
    private final EncodableRecord encoded;
    private final Callback callback;
    private final long deadlineMs;
    private final int imageVersion;

    /**
     * Only the I/O thread uses it. It is kept while there is no memory for the record, because a partitioner is called
     * once per record.
     */
    private int chosenPartition = RecordMetadata.UNKNOWN_PARTITION;

    /** Completed with the record's future in its batch, or with a future that has failed. */
    private final CompletableFuture<DeliveryFuture> futureAfterWait = new CompletableFuture<>();

    WaitingRecord(
            ProducerRecord<K, V> record,
            EncodableRecord encoded,
            Callback callback,
            long deadlineMs,
            int imageVersion) {
        this.record = record;
        this.encoded = encoded;
        this.callback = callback;
        this.deadlineMs = deadlineMs;
        this.imageVersion = imageVersion;
    }

    ProducerRecord<K, V> record() {
        return record;
    }

    EncodableRecord encoded() {
        return encoded;
    }

    Callback callback() {
        return callback;
    }

    /** Returns the chosen partition; negative until {@link #setChosenPartition}. */
    int chosenPartition() {
        return chosenPartition;
    }

    void setChosenPartition(int partition) {
        chosenPartition = partition;
    }

    /** Returns the time, in milliseconds on the monotonic clock, at which the record fails. */
    long deadlineMs() {
        return deadlineMs;
    }

    /** Returns the bytes of {@code buffer.memory} that the record takes while it waits. */
    int size() {
        return RecordEncoder.batchSizeUpperBound(encoded);
    }

    /** Returns the version of the image when the record began to wait. */
    int imageVersion() {
        return imageVersion;
    }

    /** Ends the wait. */
    void endWait(DeliveryFuture outcome) {
        futureAfterWait.complete(outcome);
    }

    /** Blocks until the record is in a batch or has failed; returns false after {@code timeoutNs}. */
    boolean await(long timeoutNs) throws InterruptedException {
        try {
            futureAfterWait.get(timeoutNs, TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            throw new IllegalStateException("endWait() completes this, and only with a future", e);
        }
    }

    @Override
    public RecordMetadata get() throws InterruptedException, ExecutionException {
        return futureAfterWait.get().get();
    }

    @Override
    public RecordMetadata get(long timeout, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        long startNs = System.nanoTime();
        DeliveryFuture outcome = futureAfterWait.get(timeout, unit);
        long leftNs = unit.toNanos(Math.max(0, timeout)) - (System.nanoTime() - startNs);
        return outcome.get(leftNs, TimeUnit.NANOSECONDS);
    }

    @Override
    public boolean isDone() {
        return futureAfterWait.isDone() && futureAfterWait.join().isDone();
    }

    @Override
    public DeliveryCertainty certainty() {
        if (!futureAfterWait.isDone()) {
            throw new IllegalStateException("The record still waits for topic " + record.topic());
        }
        return futureAfterWait.join().certainty();
    }
}
