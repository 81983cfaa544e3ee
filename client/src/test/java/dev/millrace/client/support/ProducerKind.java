package dev.millrace.client.support;

import dev.millrace.client.MillraceProducer;
import dev.millrace.testkit.cluster.KafkaCluster;
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

    /**
     * Creates a topic for this kind of producer: for ours as users do, for the stock one served, because it may never
     * recover in a topic whose leaders do not serve it yet (KAFKA-15591).
     */
    public void createTopic(
            KafkaCluster cluster, String name, int partitions, int replicas, Map<String, String> configs) {
        if (this == STOCK) {
            cluster.createServedTopic(name, partitions, replicas, configs);
        } else {
            cluster.createTopic(name, partitions, replicas, configs);
        }
    }

    public static ProducerKind of(Producer<?, ?> producer) {
        return producer instanceof KafkaProducer ? STOCK : MILLRACE;
    }

    public static Map<String, Object> with(Map<String, Object> client, Object... more) {
        Map<String, Object> configs = new HashMap<>(client);
        for (int i = 0; i < more.length; i += 2) {
            configs.put((String) more[i], more[i + 1]);
        }
        return configs;
    }
}
