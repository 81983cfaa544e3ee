package dev.millrace.client;

import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Serializer;

/**
 * The serializers of keys and values.
 *
 * <p><b>Threads:</b> any. As in the stock client, many threads call the same serializers at the same time.
 */
final class RecordSerializer<K, V> {
    private final Serializer<K> keys;
    private final Serializer<V> values;

    RecordSerializer(Serializer<K> keys, Serializer<V> values) {
        this.keys = keys;
        this.values = values;
    }

    byte[] key(ProducerRecord<K, V> record) {
        try {
            return keys.serialize(record.topic(), record.headers(), record.key());
        } catch (ClassCastException e) {
            throw mismatch("key", record.key(), keys, e);
        }
    }

    byte[] value(ProducerRecord<K, V> record) {
        try {
            return values.serialize(record.topic(), record.headers(), record.value());
        } catch (ClassCastException e) {
            throw mismatch("value", record.value(), values, e);
        }
    }

    private static SerializationException mismatch(
            String what, Object object, Serializer<?> serializer, ClassCastException cause) {
        return new SerializationException(
                "Can't convert " + what + " of class "
                        + (object == null ? "null" : object.getClass().getName()) + " by " + what + ".serializer "
                        + serializer.getClass().getName(),
                cause);
    }
}
