package dev.millrace.client;

import dev.millrace.client.delivery.DeliveryCertainty;
import dev.millrace.client.delivery.DeliveryFuture;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;

/**
 * The future of a record that {@code send} refused; it has failed from the start.
 *
 * <p><b>Threads:</b> any.
 */
final class FailedFuture extends CompletableFuture<RecordMetadata> implements DeliveryFuture {
    FailedFuture(KafkaException reason) {
        completeExceptionally(reason);
    }

    @Override
    public DeliveryCertainty certainty() {
        return DeliveryCertainty.NOT_PERSISTED;
    }
}
