package dev.millrace.client.delivery;

import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * A callback that is also told how certain the outcome is. Give it to {@code send} like any other:
 *
 * <pre>{@code
 * producer.send(record, (DeliveryCallback) (metadata, exception, certainty) -> …);
 * }</pre>
 */
@FunctionalInterface
public interface DeliveryCallback extends Callback {
    /**
     * Called once, in place of {@link #onCompletion(RecordMetadata, Exception)}, by the same thread and in the same order.
     *
     * @param metadata as for any {@link Callback}
     * @param exception null if the delivery has succeeded
     * @param certainty never null; not always {@link DeliveryCertainty#PERSISTED} on success, see there
     */
    void onCompletion(RecordMetadata metadata, Exception exception, DeliveryCertainty certainty);

    /** What another producer calls, which does not know how certain a failure is. */
    @Override
    default void onCompletion(RecordMetadata metadata, Exception exception) {
        onCompletion(
                metadata,
                exception,
                exception == null ? DeliveryCertainty.PERSISTED : DeliveryCertainty.POSSIBLY_PERSISTED);
    }

    /** Calls {@code callback}, which may be of either kind; what it throws passes through. */
    static void call(Callback callback, RecordMetadata metadata, Exception exception, DeliveryCertainty certainty) {
        if (callback instanceof DeliveryCallback delivery) {
            delivery.onCompletion(metadata, exception, certainty);
        } else {
            callback.onCompletion(metadata, exception);
        }
    }
}
