package dev.millrace.client.kafka;

import dev.millrace.client.accumulator.FailureLog;
import dev.millrace.client.delivery.DeliveryCallback;
import java.util.List;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The application's interceptors. If one throws when it is told a record's outcome, that is logged, even an {@code
 * Error}, and the next one is told. Without interceptors, callbacks are not wrapped.
 *
 * <p><b>Threads:</b> any. As in the stock client, many threads call the same interceptors at the same time.
 */
public final class Interceptors<K, V> {
    private static final Logger log = LoggerFactory.getLogger(Interceptors.class);

    private final List<ProducerInterceptor<K, V>> chain;

    Interceptors(List<ProducerInterceptor<K, V>> chain) {
        this.chain = chain;
    }

    /**
     * Returns the record as the last interceptor that did not throw returned it. An exception is logged; an {@code
     * Error} is thrown.
     */
    public ProducerRecord<K, V> onSend(ProducerRecord<K, V> record) {
        ProducerRecord<K, V> sent = record;
        for (int i = 0; i < chain.size(); i++) {
            try {
                sent = chain.get(i).onSend(sent);
            } catch (Exception e) {
                FailureLog.error(log, "An interceptor threw when it was given a record for {}", topicOf(record), e);
            }
        }
        return sent;
    }

    private static String topicOf(ProducerRecord<?, ?> record) {
        return record == null ? null : record.topic();
    }

    /**
     * Returns a callback that tells the interceptors and then {@code callback}; just {@code callback} if there are
     * none.
     */
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
        for (ProducerInterceptor<K, V> interceptor : chain) {
            try {
                KafkaApi.acknowledge(interceptor, metadata, error, headers);
            } catch (Throwable t) { // the callback and the other records must get their outcome
                String topic = metadata == null ? null : metadata.topic();
                FailureLog.error(log, "An interceptor threw when told about a record for {}", topic, t);
            }
        }
    }

    /**
     * Tells the interceptors that {@code send} refused a record. Throws nothing, even if memory is used up: the callback
     * may have run already, and must not run again.
     *
     * @param record null if the caller or an interceptor returned null
     * @param partition where the record should have gone, with partition -1 if that is unknown; null if {@code record}
     *     is
     */
    public void onRefused(ProducerRecord<K, V> record, TopicPartition partition, Exception reason) {
        if (chain.isEmpty()) {
            return;
        }
        try {
            RecordMetadata metadata = partition == null ? null : new RecordMetadata(partition, -1, -1, -1, -1, -1);
            Headers headers = KafkaApi.hasHeadersInAcknowledgement() ? headersOf(record) : null;
            onAcknowledgement(metadata, reason, headers);
        } catch (Throwable t) {
            FailureLog.error(log, "The interceptors were not told that a record for {} is refused", partition, t);
        }
    }

    /** Returns read-only headers: a copy if {@code send} refused the record before its headers became read-only. */
    private static Headers headersOf(ProducerRecord<?, ?> record) {
        Headers headers = record == null ? new RecordHeaders() : record.headers();
        if (headers instanceof RecordHeaders own && !own.isReadOnly()) {
            RecordHeaders copy = new RecordHeaders(own);
            copy.setReadOnly();
            return copy;
        }
        return headers;
    }
}
