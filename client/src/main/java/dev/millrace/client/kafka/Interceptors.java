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
 * The application's interceptors. What one throws about a record's end is logged, an {@code Error} too, and the next is told all the
 * same. Without any, nothing is kept of a record.
 *
 * <p><b>Threads:</b> any; the interceptors are called by many threads at once, as the stock client does.
 */
public final class Interceptors<K, V> implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Interceptors.class);

    /** Kafka's own, of one interceptor each: it lets an {@code Error} pass, and would not tell the others. */
    private final List<ProducerInterceptors<K, V>> chain = new ArrayList<>();

    Interceptors(List<ProducerInterceptor<K, V>> interceptors, Metrics metrics) {
        interceptors.forEach(each -> chain.add(new ProducerInterceptors<>(List.of(each), metrics)));
    }

    /** The record as the last interceptor that did not throw has returned it; an {@code Error} passes on to the caller of {@code send}. */
    public ProducerRecord<K, V> onSend(ProducerRecord<K, V> record) {
        ProducerRecord<K, V> sent = record;
        for (int i = 0; i < chain.size(); i++) {
            sent = chain.get(i).onSend(sent);
        }
        return sent;
    }

    /** Lets the interceptors know how the record ends, and then the caller; {@code callback} itself without any. */
    public Callback before(Callback callback, Headers headers) {
        if (chain.isEmpty()) {
            return callback;
        }
        return (DeliveryCallback) (metadata, error, certainty) -> {
            tell(metadata, error, headers);
            if (callback != null) {
                DeliveryCallback.call(callback, metadata, error, certainty);
            }
        };
    }

    private void tell(RecordMetadata metadata, Exception error, Headers headers) {
        for (ProducerInterceptors<K, V> interceptor : chain) {
            try {
                interceptor.onAcknowledgement(metadata, error, headers);
            } catch (Throwable t) { // the record's caller and the other records need their outcome
                FailureLog.error(log, "An interceptor threw, told of a record of {}", metadata.topic(), t);
            }
        }
    }

    /**
     * Lets the interceptors know that the record was refused. Throws nothing of theirs.
     *
     * @param record null if the caller or an interceptor gave none
     * @param partition where it should have gone, as far as that is known; null only without a record
     */
    public void onRefused(ProducerRecord<K, V> record, TopicPartition partition, Exception reason) {
        for (ProducerInterceptors<K, V> interceptor : chain) {
            try {
                interceptor.onSendError(record, partition, reason);
            } catch (Throwable t) { // as above
                FailureLog.error(log, "An interceptor threw, told of a record refused for {}", partition, t);
            }
        }
    }

    @Override
    public void close() {
        chain.forEach(ProducerInterceptors::close);
    }
}
