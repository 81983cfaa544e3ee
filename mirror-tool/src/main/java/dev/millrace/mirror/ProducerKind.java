package dev.millrace.mirror;

import dev.millrace.client.MillraceProducer;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import picocli.CommandLine.ITypeConverter;

/** The producer a mirror writes with: the one place that knows both. */
enum ProducerKind {
    MILLRACE {
        @Override
        Producer<byte[], byte[]> create(Map<String, Object> config) {
            return new MillraceProducer<>(config);
        }

        @Override
        boolean isOwnSetting(String key) {
            return key.startsWith("millrace.");
        }
    },
    STOCK {
        @Override
        Producer<byte[], byte[]> create(Map<String, Object> config) {
            return new KafkaProducer<>(config);
        }

        @Override
        boolean isOwnSetting(String key) {
            return false;
        }
    };

    /** As it is given on the command line. */
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The command line knows it by this. */
    @Override
    public String toString() {
        return label();
    }

    /** Opens a producer; what is wrong with the configuration is a {@code KafkaException}. */
    abstract Producer<byte[], byte[]> create(Map<String, Object> config);

    /** Whether it takes or refuses this setting, which is none of {@code ProducerConfig}. */
    abstract boolean isOwnSetting(String key);

    /** For picocli, whose own errors name the constants. */
    static final class Parser implements ITypeConverter<ProducerKind> {
        @Override
        public ProducerKind convert(String text) {
            return Words.parse(values(), text);
        }
    }
}
