package dev.millrace.client.delivery;

import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * The future that {@code MillraceProducer.send} returns: a {@link Future} that also knows the certainty of the outcome.
 * It is done after the record's callback has returned.
 *
 * <p><b>Threads:</b> any. {@code get} blocks until the record is acknowledged or has failed; in a callback it would
 * wait for itself.
 */
public interface DeliveryFuture extends Future<RecordMetadata> {
    /**
     * Returns the certainty of the outcome. Does not block.
     *
     * @throws IllegalStateException the future is not {@link #isDone done} yet
     */
    DeliveryCertainty certainty();

    /** Does nothing and returns false: a record cannot be withdrawn. */
    @Override
    default boolean cancel(boolean mayInterruptIfRunning) {
        return false;
    }

    /** Always returns false. */
    @Override
    default boolean isCancelled() {
        return false;
    }
}
