package dev.millrace.client.kafka;

import dev.millrace.client.delivery.DeliveryCallback;
import java.util.List;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.internals.ProducerInterceptors;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.metrics.Metrics;

/**
 * The application's interceptors. What they throw is logged and forgotten. Without any, nothing is kept of a record.
 *
 * <p><b>Threads:</b> any; the interceptors are called by many threads at once, as the stock client does.
 */
public final class Interceptors<K, V> implements AutoCloseable {
    private final ProducerInterceptors<K, V> chain;
    private final boolean empty;

    Interceptors(List<ProducerInterceptor<K, V>> interceptors, Metrics metrics) {
        this.chain = new ProducerInterceptors<>(interceptors, metrics);
        this.empty = interceptors.isEmpty();
    }

    /** The record as the last interceptor that did not throw has returned it. */
    public ProducerRecord<K, V> onSend(ProducerRecord<K, V> record) {
        return empty ? record : chain.onSend(record);
    }

    /** Lets the interceptors know how the record ends, and then the caller; {@code callback} itself without any. */
    public Callback before(Callback callback, Headers headers) {
        if (empty) {
            return callback;
        }
        return (DeliveryCallback) (metadata, error, certainty) -> {
            chain.onAcknowledgement(metadata, error, headers);
            if (callback != null) {
                DeliveryCallback.call(callback, metadata, error, certainty);
            }
        };
    }

    /**
     * Lets the interceptors know that the record was refused at once.
     *
     * @param record null if the caller or an interceptor gave none
     * @param partition where it should have gone, as far as that is known; null only without a record
     */
    public void onRefused(ProducerRecord<K, V> record, TopicPartition partition, Exception reason) {
        if (!empty) {
            chain.onSendError(record, partition, reason);
        }
    }

    @Override
    public void close() {
        chain.close();
    }
}
