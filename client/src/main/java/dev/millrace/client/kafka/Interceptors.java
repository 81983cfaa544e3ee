package dev.millrace.client.kafka;

import dev.millrace.client.accumulator.FailureLog;
import dev.millrace.client.delivery.DeliveryCallback;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.clients.producer.internals.ProducerInterceptors;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.metrics.Metrics;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The application's interceptors. What one throws when it is told about a record's outcome is logged, an {@code Error}
 * too; then the next one is told. Without interceptors, callbacks are not wrapped.
 *
 * <p><b>Threads:</b> any. As in the stock client, many threads call the same interceptors at the same time.
 */
public final class Interceptors<K, V> implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Interceptors.class);

    /**
     * One of Kafka's chains per interceptor: a longer one lets an {@code Error} pass, and then does not tell the
     * others.
     */
    private final List<ProducerInterceptors<K, V>> chain = new ArrayList<>();

    Interceptors(List<ProducerInterceptor<K, V>> interceptors, Metrics metrics) {
        interceptors.forEach(each -> chain.add(new ProducerInterceptors<>(List.of(each), metrics)));
    }

    /** The record as the last interceptor that did not throw returned it. Throws an {@code Error} that one throws. */
    public ProducerRecord<K, V> onSend(ProducerRecord<K, V> record) {
        ProducerRecord<K, V> sent = record;
        for (int i = 0; i < chain.size(); i++) {
            sent = chain.get(i).onSend(sent);
        }
        return sent;
    }

    /** A callback that tells the interceptors and then {@code callback}; {@code callback} itself if there are none. */
    public Callback wrap(Callback callback, Headers headers) {
        if (chain.isEmpty()) {
            return callback;
        }
        return (DeliveryCallback) (metadata, error, certainty) -> {
            onAcknowledgement(metadata, error, headers);
            if (callback != null) {
                DeliveryCallback.call(callback, metadata, error, certainty);
            }
        };
    }

    private void onAcknowledgement(RecordMetadata metadata, Exception error, Headers headers) {
        for (ProducerInterceptors<K, V> interceptor : chain) {
            try {
                interceptor.onAcknowledgement(metadata, error, headers);
            } catch (Throwable t) { // the callback and the other records must get their outcome
                FailureLog.error(log, "An interceptor threw when told about a record for {}", metadata.topic(), t);
            }
        }
    }

    /**
     * Tells the interceptors that {@code send} refused a record. Does not throw what they throw.
     *
     * @param record null if the caller or an interceptor returned null
     * @param partition where the record should have gone, with partition -1 if that is unknown; null if {@code record}
     *     is
     */
    public void onRefused(ProducerRecord<K, V> record, TopicPartition partition, Exception reason) {
        for (ProducerInterceptors<K, V> interceptor : chain) {
            try {
                interceptor.onSendError(record, partition, reason);
            } catch (Throwable t) { // as above
                FailureLog.error(log, "An interceptor threw when told about a record refused for {}", partition, t);
            }
        }
    }

    @Override
    public void close() {
        chain.forEach(ProducerInterceptors::close);
    }
}
