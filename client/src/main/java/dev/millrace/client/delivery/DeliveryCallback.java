package dev.millrace.client.delivery;

import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * A callback that also receives the certainty of the outcome. Give it to {@code send} like any other callback:
 *
 * <pre>{@code
 * producer.send(record, (DeliveryCallback) (metadata, exception, certainty) -> …);
 * }</pre>
 *
 * <p><b>Threads:</b> called by the I/O thread; by the thread that calls {@code send} if that refuses the record at
 * once. A slow callback delays all records after its own.
 */
@FunctionalInterface
public interface DeliveryCallback extends Callback {
    /**
     * Called once, in place of {@link #onCompletion(RecordMetadata, Exception)}, by the same thread and in the same
     * order. An exception that it throws on the I/O thread is logged and changes nothing.
     *
     * @param metadata as for any {@link Callback}
     * @param exception null if the delivery succeeded
     * @param certainty never null; on success {@link DeliveryCertainty#PERSISTED}, but with {@code acks=0}
     *     {@link DeliveryCertainty#POSSIBLY_PERSISTED}
     */
    void onCompletion(RecordMetadata metadata, Exception exception, DeliveryCertainty certainty);

    /** Called by other producers, which cannot tell the certainty: a failed record counts as possibly persisted. */
    @Override
    default void onCompletion(RecordMetadata metadata, Exception exception) {
        onCompletion(
                metadata,
                exception,
                exception == null ? DeliveryCertainty.PERSISTED : DeliveryCertainty.POSSIBLY_PERSISTED);
    }

    /** Calls {@code callback} with the certainty if it is a {@code DeliveryCallback}; passes on what it throws. */
    static void call(Callback callback, RecordMetadata metadata, Exception exception, DeliveryCertainty certainty) {
        if (callback instanceof DeliveryCallback delivery) {
            delivery.onCompletion(metadata, exception, certainty);
        } else {
            callback.onCompletion(metadata, exception);
        }
    }
}
