package dev.millrace.mirror;

import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;

/** The producer a mirror writes with: the one place that knows both. */
public enum ProducerKind {
    MILLRACE {
        @Override
        Producer<byte[], byte[]> create(Map<String, Object> config) {
            throw MirrorException.failed("--producer millrace: not built in yet; use --producer stock");
        }
    },
    STOCK {
        @Override
        Producer<byte[], byte[]> create(Map<String, Object> config) {
            return new KafkaProducer<>(config);
        }
    };

    abstract Producer<byte[], byte[]> create(Map<String, Object> config);
}
