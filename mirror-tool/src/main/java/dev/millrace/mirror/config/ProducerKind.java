package dev.millrace.mirror.config;

import dev.millrace.client.MillraceConfig;
import dev.millrace.client.MillraceProducer;
import dev.millrace.client.raw.RawProducer;
import java.util.Collection;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;

/** The producer that a mirror writes with. Only this class names both. */
public enum ProducerKind {
    MILLRACE {
        @Override
        public Producer<byte[], byte[]> create(Map<String, Object> config) {
            Map<String, Object> all = new HashMap<>(config);
            all.putIfAbsent(MillraceConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false); // its settings would differ
            return new MillraceProducer<>(all);
        }

        @Override
        public void requestTopics(Producer<byte[], byte[]> producer, Collection<String> topics) {
            RawProducer.of(producer).requestTopics(topics);
        }

        @Override
        public void stopPartitionsAtFailures(Producer<byte[], byte[]> producer) {
            RawProducer.of(producer).stopPartitionsAtFailures();
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
        public void requestTopics(
                Producer<byte[], byte[]> producer, Collection<String> topics) {} // it has no such request

        @Override
        public void stopPartitionsAtFailures(Producer<byte[], byte[]> producer) {} // it cannot

        @Override
        public boolean isOwnSetting(String key) {
            return false;
        }
    };

    /** Returns the name on the command line. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the {@link #label}, which picocli prints. */
    @Override
    public String toString() {
        return label();
    }

    /** Opens a producer; throws a {@code KafkaException} if the configuration is wrong. */
    public abstract Producer<byte[], byte[]> create(Map<String, Object> config);

    /** Makes the producer ask for these topics together; otherwise it asks for each when its first record comes. */
    public abstract void requestTopics(Producer<byte[], byte[]> producer, Collection<String> topics);

    /**
     * Makes the producer write nothing after a failed record of a partition, as far as it can; otherwise the next mirror
     * would write that record after later ones.
     */
    public abstract void stopPartitionsAtFailures(Producer<byte[], byte[]> producer);

    /** Whether this producer reads this setting, which is not in {@code ProducerConfig}. */
    public abstract boolean isOwnSetting(String key);
}
