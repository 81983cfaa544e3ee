package dev.millrace.client;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;

/**
 * The configuration keys of Millrace in addition to those of {@link org.apache.kafka.clients.producer.ProducerConfig}.
 * None of them needs to be set.
 *
 * <p><b>Threads:</b> immutable.
 */
public final class MillraceConfig extends AbstractConfig {
    /**
     * The number of I/O threads, 1 to 128, by default 1. Each has its own connections and an equal share of the
     * partitions. More than one is worthwhile if a single thread's work, above all encryption, limits the producer.
     */
    public static final String IO_THREADS_CONFIG = "millrace.io.threads";

    /**
     * Whether {@code send} may block until the record's topic is known, by default true. If false, the record waits
     * instead, serialized, at most {@code max.block.ms} milliseconds, and counts against {@code buffer.memory}. Then:
     *
     * <ul>
     *   <li>{@code send} blocks for memory only if the topic is known. If there is no memory for a record that must
     *       wait, the record fails at once with {@code BufferExhaustedException}.
     *   <li>After {@code send} has returned, the caller may reuse the record's arrays.
     *   <li>For a record that waits, the partitioner runs on the I/O thread, and so does the callback if the record
     *       fails. The partitioner gets copies of keys and values that are a {@code byte[]}; it gets other objects as
     *       they are by then.
     *   <li>{@code transactional.id} cannot be set.
     * </ul>
     *
     * <p>This is what KIP-286 wanted.
     */
    public static final String METADATA_BLOCK_CONFIG = "millrace.metadata.block";

    /**
     * A folder in which the producer keeps the names of the topics that it knows, by default none. After a restart it
     * asks for them a thousand at a time and before they are used, so that {@code send} waits for few or none of them.
     * It uses only the cluster's answers: it takes no leaders, no partitions and no addresses from the file, and no
     * topic is created because the file names it.
     *
     * <ul>
     *   <li>Programs may share the folder. A file belongs to a {@code client.id} and {@code bootstrap.servers}; with the
     *       same of both, the last writer wins.
     *   <li>A thread of its own reads the file when the producer starts, and writes it every ten seconds if the names
     *       have changed, and at {@code close}, which waits for that at most two seconds. {@code send} waits for none of
     *       this.
     *   <li>A file that is damaged, older than seven days or of another cluster is not used; the producer logs a
     *       warning, and so it does if it cannot write. Nothing fails.
     * </ul>
     */
    public static final String METADATA_CACHE_CONFIG = "millrace.metadata.cache";

    /**
     * Whether asking for a topic lets brokers create it, by default true, as with the stock producer; they do if {@code
     * auto.create.topics.enable} is set there. If false, a topic that is deleted stays deleted: {@code send} waits for
     * it, at most {@code max.block.ms} milliseconds, and records that were buffered expire. The consumer's setting of
     * this name does the same.
     */
    public static final String ALLOW_AUTO_CREATE_TOPICS_CONFIG = "millrace.allow.auto.create.topics";

    /**
     * The largest size, in bytes, of a record that exceeds {@code max.request.size}; by default 0: no record may exceed
     * it. Such a record is sent in its own request, while requests of many small batches stay as small as {@code
     * max.request.size} says. It must fit into {@code buffer.memory}, and brokers accept no request larger than their
     * {@code socket.request.max.bytes}.
     */
    public static final String MAX_RECORD_SIZE_CONFIG = "millrace.max.record.size";

    private static final String PREFIX = "millrace.";

    private static final ConfigDef KEYS = new ConfigDef()
            .define(
                    IO_THREADS_CONFIG,
                    ConfigDef.Type.INT,
                    1,
                    ConfigDef.Range.between(1, 128),
                    ConfigDef.Importance.LOW,
                    "Number of I/O threads, each with its own connections and an equal share of the partitions.")
            .define(
                    METADATA_BLOCK_CONFIG,
                    ConfigDef.Type.BOOLEAN,
                    true,
                    ConfigDef.Importance.LOW,
                    "Whether send() may block until the record's topic is known. If false, the record waits instead.")
            .define(
                    METADATA_CACHE_CONFIG,
                    ConfigDef.Type.STRING,
                    null,
                    new FolderName(),
                    ConfigDef.Importance.LOW,
                    "Folder in which the names of known topics are kept for the next run. By default none.")
            .define(
                    ALLOW_AUTO_CREATE_TOPICS_CONFIG,
                    ConfigDef.Type.BOOLEAN,
                    true,
                    ConfigDef.Importance.LOW,
                    "Whether asking for a topic lets brokers create it, if auto.create.topics.enable is set there.")
            .define(
                    MAX_RECORD_SIZE_CONFIG,
                    ConfigDef.Type.INT,
                    0,
                    ConfigDef.Range.atLeast(0),
                    ConfigDef.Importance.LOW,
                    "Bytes of a record, if more than max.request.size; it is sent in a request of its own.");

    /** Accepts text that can be the path of a folder. */
    private static final class FolderName implements ConfigDef.Validator {
        @Override
        public void ensureValid(String key, Object value) {
            if (value == null) {
                return;
            }
            try {
                if (!((String) value).isBlank() && !Files.isRegularFile(Path.of((String) value))) {
                    return;
                }
            } catch (InvalidPathException e) {
                throw new ConfigException(key, value, "must be the path of a folder: " + e.getReason());
            }
            throw new ConfigException(key, value, "must be the path of a folder");
        }

        @Override
        public String toString() {
            return "the path of a folder";
        }
    }

    private MillraceConfig(Map<String, ?> own) {
        super(KEYS, own, false);
    }

    /**
     * Reads the keys that begin with {@code millrace.}; ignores the others.
     *
     * @throws ConfigException a value is out of range, or there is no such key
     */
    static MillraceConfig parse(Map<String, Object> configs) {
        Map<String, Object> own = new TreeMap<>();
        for (String key : configs.keySet()) {
            if (key.startsWith(PREFIX)) {
                if (!KEYS.names().contains(key)) {
                    throw new ConfigException(
                            key, configs.get(key), "there is no such key; the keys of Millrace are " + KEYS.names());
                }
                own.put(key, configs.get(key));
            }
        }
        MillraceConfig parsed = new MillraceConfig(own);
        if (!parsed.isMetadataBlocking() && configs.get(ProducerConfig.TRANSACTIONAL_ID_CONFIG) != null) {
            throw new ConfigException(
                    METADATA_BLOCK_CONFIG, false, "must be true with transactional.id: leave out one of the two.");
        }
        return parsed;
    }

    boolean isMetadataBlocking() {
        return getBoolean(METADATA_BLOCK_CONFIG);
    }

    int ioThreads() {
        return getInt(IO_THREADS_CONFIG);
    }

    boolean mayCreateTopics() {
        return getBoolean(ALLOW_AUTO_CREATE_TOPICS_CONFIG);
    }

    /** Returns the limit in bytes; 0 if {@code max.request.size} applies. */
    int maxRecordSize() {
        return getInt(MAX_RECORD_SIZE_CONFIG);
    }

    /** Returns the folder; empty if no file is kept. */
    Optional<Path> metadataCache() {
        return Optional.ofNullable(getString(METADATA_CACHE_CONFIG)).map(Path::of);
    }
}
