package dev.millrace.client.accumulator;

import dev.millrace.client.delivery.DeliveryCertainty;
import dev.millrace.client.delivery.DeliveryFuture;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * The future of one record. It holds the record's index in a batch and the result that the whole batch shares; nothing
 * of the producer refers to it. If the batch was split, its result leads to those of the parts.
 *
 * <p><b>Threads:</b> immutable; {@code get} blocks until the batch is done. It cannot be cancelled.
 */
public final class RecordFuture implements DeliveryFuture {
    private final BatchResult batch;
    private final int index;
    private final int keySize;
    private final int valueSize;
    private final long timestamp;

    RecordFuture(BatchResult batch, int index, EncodableRecord record) {
        this.batch = batch;
        this.index = index;
        this.keySize = record.keySize();
        this.valueSize = record.valueSize();
        this.timestamp = record.timestamp();
    }

    @Override
    public RecordMetadata get() throws InterruptedException, ExecutionException {
        RecordPlace place = null;
        for (RecordPlace next = first(); next != null; next = place.next()) {
            place = next;
            place.batch().awaitSettled();
        }
        return outcome(place);
    }

    @Override
    public RecordMetadata get(long timeout, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        long startNs = System.nanoTime();
        RecordPlace place = null;
        for (RecordPlace next = first(); next != null; next = place.next()) {
            place = next;
            long leftNs = unit.toNanos(Math.max(0, timeout)) - (System.nanoTime() - startNs);
            if (!place.batch().awaitSettled(leftNs, TimeUnit.NANOSECONDS)) {
                throw new TimeoutException("No answer for a record of " + batch.partition() + " within " + timeout + " "
                        + unit.name().toLowerCase(Locale.ROOT));
            }
        }
        return outcome(place);
    }

    @Override
    public boolean isDone() {
        for (RecordPlace place = first(); place != null; place = place.next()) {
            if (!place.batch().isSettled()) {
                return false;
            }
        }
        return true;
    }

    private RecordPlace first() {
        return new RecordPlace(batch, index);
    }

    private RecordMetadata outcome(RecordPlace place) throws ExecutionException {
        RuntimeException error = place.batch().outcome().errorOf(place.index());
        if (error != null) {
            throw new ExecutionException(error);
        }
        return place.batch().metadata(place.index(), timestamp, keySize, valueSize);
    }

    @Override
    public DeliveryCertainty certainty() {
        RecordPlace place = first();
        for (RecordPlace next = place; next != null; next = place.next()) {
            place = next;
            if (!place.batch().isSettled()) {
                throw new IllegalStateException("The record for " + batch.partition() + " has no outcome yet");
            }
        }
        return place.batch().outcome().certainty();
    }
}
