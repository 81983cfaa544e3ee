package dev.millrace.client.delivery;

import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * What {@code MillraceProducer.send} returns: cast its result to this to ask how certain the outcome is.
 *
 * <p><b>Threads:</b> any.
 */
public interface DeliveryFuture extends Future<RecordMetadata> {
    /**
     * How certain the outcome is; does not block.
     *
     * @throws IllegalStateException while the future is not {@link #isDone done}
     */
    DeliveryCertainty certainty();

    /** Does nothing and returns false: a record that was sent cannot be called back. */
    @Override
    default boolean cancel(boolean mayInterruptIfRunning) {
        return false;
    }

    @Override
    default boolean isCancelled() {
        return false;
    }
}
