package dev.millrace.client;

import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.producer.ProducerConfig;
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

    /**
     * Whether {@code send} may block until the record's topic is known; true unless set. With false the record waits instead, for
     * {@code max.block.ms} at most, and counts against {@code buffer.memory}; {@code send} blocks for memory only once the topic is
     * known, and fails at once with {@code BufferExhaustedException} when there is none for a record that must wait. Its bytes are
     * taken when {@code send} returns. A record's partitioner, and its callback if it fails, then run on the I/O thread; keys and
     * values that are no {@code byte[]} the partitioner sees as they are by then. Not with {@code transactional.id}. (The wish of
     * KIP-286.)
     */
    public static final String METADATA_BLOCK_CONFIG = "millrace.metadata.block";

    private static final String PREFIX = "millrace.";

    private static final ConfigDef KEYS = new ConfigDef()
            .define(
                    IO_THREADS_CONFIG,
                    ConfigDef.Type.INT,
                    1,
                    ConfigDef.Range.between(1, 128),
                    ConfigDef.Importance.LOW,
                    "How many I/O threads send, each with its own connections and an equal share of the partitions.")
            .define(
                    METADATA_BLOCK_CONFIG,
                    ConfigDef.Type.BOOLEAN,
                    true,
                    ConfigDef.Importance.LOW,
                    "Whether send() may block until the record's topic is known; else the record waits.");

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
        MillraceConfig parsed = new MillraceConfig(ours);
        if (!parsed.metadataBlocks() && configs.get(ProducerConfig.TRANSACTIONAL_ID_CONFIG) != null) {
            throw new ConfigException(
                    METADATA_BLOCK_CONFIG, false, "must be true with transactional.id: leave out one of the two.");
        }
        return parsed;
    }

    boolean metadataBlocks() {
        return getBoolean(METADATA_BLOCK_CONFIG);
    }

    int ioThreads() {
        return getInt(IO_THREADS_CONFIG);
    }
}
