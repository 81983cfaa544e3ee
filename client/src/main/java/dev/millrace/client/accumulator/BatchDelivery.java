package dev.millrace.client.accumulator;

import dev.millrace.client.delivery.DeliveryCallback;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The outcome of a batch, and its delivery to callbacks and futures. Each callback runs once, even if a part of the
 * delivery throws and is repeated.
 *
 * <p><b>Threads:</b> the I/O thread.
 */
final class BatchDelivery {
    private static final Logger log = LoggerFactory.getLogger(BatchDelivery.class);

    private final BatchResult result;

    /** The index of the batch's first record in {@code callbacks}: not 0 if it is a later part of another batch. */
    private final int firstSlot;

    private BatchCallbacks callbacks;
    private Status status = Status.UNDECIDED;

    /**
     * The class of the last callback if it was no {@link DeliveryCallback}. Otherwise the JVM would search all
     * interfaces of the class for each record, which takes longer than the rest.
     */
    private Class<?> plainCallback;

    /** How many of the records no longer need a callback. */
    private int told;

    /** The state of the batch's delivery. */
    private enum Status {
        UNDECIDED,
        ACCEPTED,
        FAILED,
        ACCEPTED_AND_DELIVERED,
        FAILED_AND_DELIVERED
    }

    BatchDelivery(BatchResult result, BatchCallbacks callbacks) {
        this(result, callbacks, 0);
    }

    private BatchDelivery(BatchResult result, BatchCallbacks callbacks, int firstSlot) {
        this.result = result;
        this.callbacks = callbacks;
        this.firstSlot = firstSlot;
    }

    /** Returns the delivery of the part of the batch that starts with this record. */
    BatchDelivery forPart(int firstRecord) {
        return new BatchDelivery(new BatchResult(result.partition(), null), callbacks, firstSlot + firstRecord);
    }

    /** Only the first outcome counts. */
    void decide(BatchOutcome outcome) {
        if (!isDecided()) {
            status = outcome.error() == null ? Status.ACCEPTED : Status.FAILED;
            result.decide(outcome);
        }
    }

    boolean isDecided() {
        return status != Status.UNDECIDED;
    }

    boolean isAccepted() {
        return status == Status.ACCEPTED || status == Status.ACCEPTED_AND_DELIVERED;
    }

    boolean isDelivered() {
        return status == Status.ACCEPTED_AND_DELIVERED || status == Status.FAILED_AND_DELIVERED;
    }

    /** Returns why the decided batch failed, or null if it was accepted. */
    RuntimeException error() {
        return result.outcome().errorOfBatch();
    }

    void deliver(int count) {
        if (!callbacks.isEmpty()) {
            while (told < count) {
                tell(told);
            }
        }
        callbacks = null; // they are the application's objects, and the batch may still wait for its request
        status = isAccepted() ? Status.ACCEPTED_AND_DELIVERED : Status.FAILED_AND_DELIVERED;
        result.publish();
    }

    private void tell(int index) {
        Callback callback = callbacks.callback(firstSlot + index);
        if (callback == null) {
            told++;
            return;
        }
        RuntimeException error = result.outcome().errorOf(index);
        RecordMetadata metadata = error == null
                ? callbacks.metadata(firstSlot + index, result, index)
                : new RecordMetadata(result.partition(), -1, -1, -1, -1, -1);
        told++; // after the metadata, which needs memory, and before the callback: so each runs once, whatever is
        // thrown
        run(callback, metadata, error);
    }

    private void run(Callback callback, RecordMetadata metadata, RuntimeException error) {
        try {
            call(callback, metadata, error);
        } catch (Throwable t) { // an Error of the application's code must not stop the other records
            FailureLog.error(log, "The callback of a record of {} threw", result.partition(), t);
        }
    }

    private void call(Callback callback, RecordMetadata metadata, RuntimeException error) {
        if (callback.getClass() == plainCallback) {
            callback.onCompletion(metadata, error);
        } else {
            plainCallback = callback instanceof DeliveryCallback ? null : callback.getClass();
            DeliveryCallback.call(callback, metadata, error, result.outcome().certainty());
        }
    }

    /** Returns the index of this part's first record in the whole batch. */
    int firstRecordIn(BatchDelivery whole) {
        return firstSlot - whole.firstSlot;
    }

    BatchResult result() {
        return result;
    }

    /** Sends waiting threads on to the parts, which have taken over the callbacks. Needs no memory. */
    void forwardToParts(int[] firstRecords, BatchResult[] parts) {
        callbacks = null;
        result.forwardToParts(firstRecords, parts);
    }
}
