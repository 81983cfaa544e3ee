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
 * A record that waits, serialized, until its topic is known, and its future at the same time.
 *
 * <p><b>Threads:</b> {@code settle} once, by the I/O thread; the rest by any. {@code get} blocks. It cannot be cancelled.
 */
final class WaitingRecord<K, V> implements DeliveryFuture {
    private final ProducerRecord<K, V> record;
    private final EncodableRecord encoded;
    private final Callback callback;
    private final long deadlineMs;
    private final int sinceVersion;

    /** The I/O thread's: kept when there is no memory yet, because a partitioner is asked once a record. */
    private int chosenPartition = RecordMetadata.UNKNOWN_PARTITION;

    /** Completed with the future in its batch, or with one that has failed. */
    private final CompletableFuture<DeliveryFuture> settled = new CompletableFuture<>();

    WaitingRecord(
            ProducerRecord<K, V> record,
            EncodableRecord encoded,
            Callback callback,
            long deadlineMs,
            int sinceVersion) {
        this.record = record;
        this.encoded = encoded;
        this.callback = callback;
        this.deadlineMs = deadlineMs;
        this.sinceVersion = sinceVersion;
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

    /** Negative until {@link #choosePartition}. */
    int chosenPartition() {
        return chosenPartition;
    }

    void choosePartition(int partition) {
        chosenPartition = partition;
    }

    /** On the monotonic clock; then it fails. */
    long deadlineMs() {
        return deadlineMs;
    }

    /** Bytes that it counts against {@code buffer.memory}. */
    int size() {
        return RecordEncoder.batchSizeUpperBound(encoded);
    }

    /** The image's, when it began to wait. */
    int sinceVersion() {
        return sinceVersion;
    }

    void settle(DeliveryFuture outcome) {
        settled.complete(outcome);
    }

    /** Blocks until it is in a batch or has failed; false if that takes longer. */
    boolean awaitSettled(long timeoutNs) throws InterruptedException {
        try {
            settled.get(timeoutNs, TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            throw new IllegalStateException("Only outcomes complete this", e);
        }
    }

    @Override
    public RecordMetadata get() throws InterruptedException, ExecutionException {
        return settled.get().get();
    }

    @Override
    public RecordMetadata get(long timeout, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        long startNs = System.nanoTime();
        DeliveryFuture outcome = settled.get(timeout, unit);
        long leftNs = unit.toNanos(Math.max(0, timeout)) - (System.nanoTime() - startNs);
        return outcome.get(leftNs, TimeUnit.NANOSECONDS);
    }

    @Override
    public boolean isDone() {
        return settled.isDone() && settled.join().isDone();
    }

    @Override
    public DeliveryCertainty certainty() {
        if (!settled.isDone()) {
            throw new IllegalStateException("The record still waits for topic " + record.topic());
        }
        return settled.join().certainty();
    }
}
