package dev.millrace.mirror;

import dev.millrace.client.MillraceProducer;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;

/** The producer a mirror writes with: the one place that knows both. */
public enum ProducerKind {
    MILLRACE {
        @Override
        public Producer<byte[], byte[]> create(Map<String, Object> config) {
            return new MillraceProducer<>(config);
        }

        @Override
        public boolean isOwnSetting(String key) {
            return key.startsWith("millrace.");
        }
    },
    STOCK {
        @Override
        public Producer<byte[], byte[]> create(Map<String, Object> config) {
            return new KafkaProducer<>(config);
        }

        @Override
        public boolean isOwnSetting(String key) {
            return false;
        }
    };

    /** As it is given on the command line. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The command line knows it by this. */
    @Override
    public String toString() {
        return label();
    }

    /** Opens a producer; what is wrong with the configuration is a {@code KafkaException}. */
    public abstract Producer<byte[], byte[]> create(Map<String, Object> config);

    /** Whether it takes or refuses this setting, which is none of {@code ProducerConfig}. */
    public abstract boolean isOwnSetting(String key);
}
