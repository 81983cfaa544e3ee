package dev.millrace.mirror;

import dev.millrace.client.MillraceProducer;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;

/** The producer a mirror writes with: the one place that knows both. */
enum ProducerKind {
    MILLRACE {
        @Override
        Producer<byte[], byte[]> create(Map<String, Object> config) {
            return new MillraceProducer<>(config);
        }
    },
    STOCK {
        @Override
        Producer<byte[], byte[]> create(Map<String, Object> config) {
            return new KafkaProducer<>(config);
        }
    };

    /** As it is given on the command line. */
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Opens a producer; what is wrong with the configuration is a {@code KafkaException}. */
    abstract Producer<byte[], byte[]> create(Map<String, Object> config);
}
