package dev.millrace.client.kafka;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.config.SslConfigs;

/**
 * Configurations whose values the private copy of Kafka's internals can use: those of keys, and the defaults, that older
 * versions of kafka-clients lack, and no time that its selector cannot count. The simple names of their classes are those
 * of Kafka's, because they head the settings in the log, where people search for them.
 */
public final class WorkableConfigs {
    /** Kafka's selector counts in nanoseconds; with more than 146 years it would close each connection at once. */
    private static final long MAX_IDLE_MS = TimeUnit.NANOSECONDS.toMillis(Long.MAX_VALUE / 2);

    private static final String CONNECTIONS_MAX_IDLE_MS = "connections.max.idle.ms";

    private WorkableConfigs() {}

    /**
     * Returns the configuration of a producer.
     *
     * @throws org.apache.kafka.common.config.ConfigException a key is missing, or a value is out of range
     */
    public static org.apache.kafka.clients.producer.ProducerConfig producer(Map<String, Object> configs) {
        return new ProducerConfig(configs);
    }

    /**
     * Returns the configuration of a fetcher. It resolves the names of the bootstrap servers before it starts, and tells
     * brokers nothing of the cluster that it expects: the ids of its topics say when a cluster is another one.
     *
     * @throws org.apache.kafka.common.config.ConfigException a key is missing, or a value is out of range
     */
    public static org.apache.kafka.clients.consumer.ConsumerConfig consumer(Map<String, Object> configs) {
        return new ConsumerConfig(configs);
    }

    private static Map<String, Object> withoutWhatItCannotUse(Map<String, Object> parsed) {
        Map<String, Object> updates = new HashMap<>();
        if (parsed.get(SslConfigs.SSL_CIPHER_SUITES_CONFIG) == null) { // the default before 4.2
            updates.put(SslConfigs.SSL_CIPHER_SUITES_CONFIG, List.of());
        }
        if ((Long) parsed.get(CONNECTIONS_MAX_IDLE_MS) > MAX_IDLE_MS) {
            updates.put(CONNECTIONS_MAX_IDLE_MS, MAX_IDLE_MS);
        }
        return updates;
    }

    private static final class ProducerConfig extends org.apache.kafka.clients.producer.ProducerConfig {
        ProducerConfig(Map<String, Object> configs) {
            super(configs);
        }

        @Override
        protected Map<String, Object> postProcessParsedConfig(Map<String, Object> parsed) {
            Map<String, Object> updates = new HashMap<>(super.postProcessParsedConfig(parsed));
            updates.putAll(NewerKeys.values(this, parsed));
            updates.putAll(withoutWhatItCannotUse(parsed));
            return updates;
        }
    }

    private static final class ConsumerConfig extends org.apache.kafka.clients.consumer.ConsumerConfig {
        ConsumerConfig(Map<String, Object> configs) {
            super(configs);
        }

        @Override
        protected Map<String, Object> postProcessParsedConfig(Map<String, Object> parsed) {
            Map<String, Object> updates = new HashMap<>(super.postProcessParsedConfig(parsed));
            updates.put(NewerKeys.BOOTSTRAP_RESOLVE_TIMEOUT_MS, 0L);
            updates.put(NewerKeys.METADATA_CLUSTER_CHECK, false);
            updates.putAll(withoutWhatItCannotUse(parsed));
            return updates;
        }
    }
}
