package dev.millrace.client;

import java.util.Map;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Serializer;

/**
 * The serializers of keys and values.
 *
 * <p><b>Threads:</b> any; the serializers are called by many threads at once, as the stock client does.
 */
final class RecordSerializer<K, V> implements AutoCloseable {
    private final Serializer<K> keys;
    private final Serializer<V> values;

    /** Null serializers are made and configured as {@code config} names them. */
    RecordSerializer(ProducerConfig config, Serializer<K> keys, Serializer<V> values) {
        this.keys = keys != null ? keys : configured(config, ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, true);
        this.values = values != null ? values : configured(config, ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, false);
    }

    @SuppressWarnings("unchecked") // what the application configures is for it to use with the right types
    private static <T> Serializer<T> configured(ProducerConfig config, String key, boolean forKeys) {
        Serializer<T> serializer = config.getConfiguredInstance(key, Serializer.class);
        String clientId = config.getString(ProducerConfig.CLIENT_ID_CONFIG);
        serializer.configure(config.originals(Map.of(ProducerConfig.CLIENT_ID_CONFIG, clientId)), forKeys);
        return serializer;
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

    @Override
    public void close() {
        try {
            keys.close();
        } finally {
            values.close();
        }
    }
}
