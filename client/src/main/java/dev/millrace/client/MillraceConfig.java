package dev.millrace.client;

import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;

/**
 * What can be configured beyond {@link org.apache.kafka.clients.producer.ProducerConfig}. Left out, all of it is as the
 * stock producer would have it.
 *
 * <p><b>Threads:</b> immutable.
 */
public final class MillraceConfig extends AbstractConfig {
    /**
     * How many I/O threads send, each with its own connections and an equal share of the partitions; 1 unless set. More
     * are worth their connections where one thread's work, encryption above all, is what limits the producer.
     */
    public static final String IO_THREADS_CONFIG = "millrace.io.threads";

    private static final String PREFIX = "millrace.";

    private static final ConfigDef KEYS = new ConfigDef()
            .define(
                    IO_THREADS_CONFIG,
                    ConfigDef.Type.INT,
                    1,
                    ConfigDef.Range.between(1, 128),
                    ConfigDef.Importance.LOW,
                    "How many I/O threads send, each with its own connections and an equal share of the partitions.");

    private MillraceConfig(Map<String, ?> ours) {
        super(KEYS, ours, false);
    }

    /**
     * Reads the keys of ours among {@code configs}.
     *
     * @throws ConfigException a value makes no sense, or there is no such key
     */
    static MillraceConfig parse(Map<String, Object> configs) {
        Map<String, Object> ours = new TreeMap<>();
        for (String key : configs.keySet()) {
            if (key.startsWith(PREFIX)) {
                if (!KEYS.names().contains(key)) {
                    throw new ConfigException(key, configs.get(key), "there is no such key; there are " + KEYS.names());
                }
                ours.put(key, configs.get(key));
            }
        }
        return new MillraceConfig(ours);
    }

    int ioThreads() {
        return getInt(IO_THREADS_CONFIG);
    }
}
