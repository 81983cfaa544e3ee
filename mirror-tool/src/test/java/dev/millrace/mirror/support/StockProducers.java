package dev.millrace.mirror.support;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Makes the producers that fill the topics of tests. */
public final class StockProducers {
    private StockProducers() {}

    /** With one request in flight: with more it may never recover in a topic that has just been created (KAFKA-15591). */
    public static KafkaProducer<byte[], byte[]> create(Map<String, Object> settings) {
        Map<String, Object> config = new HashMap<>(settings);
        config.put("max.in.flight.requests.per.connection", 1);
        return new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }
}
