package dev.millrace.client.support;

import dev.millrace.client.MillraceProducer;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The producer under test and the reference; the same calls must have the same outcome. */
public enum ProducerKind {
    MILLRACE {
        @Override
        public Producer<byte[], byte[]> create(Map<String, Object> configs) {
            return new MillraceProducer<>(configs, new ByteArraySerializer(), new ByteArraySerializer());
        }
    },
    STOCK {
        @Override
        public Producer<byte[], byte[]> create(Map<String, Object> configs) {
            return new KafkaProducer<>(configs, new ByteArraySerializer(), new ByteArraySerializer());
        }
    };

    public abstract Producer<byte[], byte[]> create(Map<String, Object> configs);

    /**
     * Creates a producer.
     *
     * @param client a cluster's client configuration
     * @param more pairs of key and value
     */
    public Producer<byte[], byte[]> create(Map<String, Object> client, Object... more) {
        return create(with(client, more));
    }

    public static Map<String, Object> with(Map<String, Object> client, Object... more) {
        Map<String, Object> configs = new HashMap<>(client);
        for (int i = 0; i < more.length; i += 2) {
            configs.put((String) more[i], more[i + 1]);
        }
        return configs;
    }
}
