package dev.millrace.client;

import dev.millrace.client.delivery.DeliveryCertainty;
import dev.millrace.client.delivery.DeliveryFuture;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;

/** The future of a record that {@code send} did not take: it has failed already. */
final class FailedFuture extends CompletableFuture<RecordMetadata> implements DeliveryFuture {
    FailedFuture(KafkaException reason) {
        completeExceptionally(reason);
    }

    @Override
    public DeliveryCertainty certainty() {
        return DeliveryCertainty.NOT_PERSISTED;
    }
}
