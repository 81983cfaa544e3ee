package dev.millrace.client.kafka;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;

/**
 * The keys that Millrace, or the private copy of Kafka's internals, reads and that older versions of kafka-clients do not
 * define, with the types and defaults of the version that brought them.
 */
public final class NewerKeys {
    public static final String METADATA_RECOVERY_TRIGGER_MS = "metadata.recovery.rebootstrap.trigger.ms";

    /** Milliseconds for which the names of the bootstrap servers are resolved; 0 for once, in the constructor. */
    static final String BOOTSTRAP_RESOLVE_TIMEOUT_MS = "bootstrap.resolve.timeout.ms";

    /** Whether brokers are told which cluster and which broker is expected. */
    static final String METADATA_CLUSTER_CHECK = "metadata.cluster.check.enable";

    public static final String RACK_AWARE = "partitioner.rack.aware";
    public static final String CLIENT_RACK = "client.rack";

    private static final ConfigDef DEFINITIONS = new ConfigDef()
            .define(
                    METADATA_RECOVERY_TRIGGER_MS,
                    ConfigDef.Type.LONG,
                    TimeUnit.MINUTES.toMillis(5),
                    ConfigDef.Range.atLeast(0),
                    ConfigDef.Importance.LOW,
                    "Milliseconds without metadata after which the bootstrap servers are asked (4.0, KIP-1102).")
            .define(
                    BOOTSTRAP_RESOLVE_TIMEOUT_MS,
                    ConfigDef.Type.LONG,
                    0,
                    ConfigDef.Range.atLeast(0),
                    ConfigDef.Importance.HIGH,
                    "Milliseconds for which the names of the bootstrap servers are resolved (4.4, KIP-909).")
            .define(
                    METADATA_CLUSTER_CHECK,
                    ConfigDef.Type.BOOLEAN,
                    true,
                    ConfigDef.Importance.LOW,
                    "Whether a broker is told which cluster and which broker is expected (4.4, KIP-1242).")
            .define(
                    RACK_AWARE,
                    ConfigDef.Type.BOOLEAN,
                    false,
                    ConfigDef.Importance.LOW,
                    "Whether records without a key prefer leaders in the client's rack (4.4, KIP-1123).")
            .define(
                    CLIENT_RACK,
                    ConfigDef.Type.STRING,
                    "",
                    ConfigDef.Importance.LOW,
                    "Where the client is, as the brokers' broker.rack tells it (4.4 for producers, KIP-1123).");

    private NewerKeys() {}

    /** Returns the definitions. */
    public static Map<String, ConfigDef.ConfigKey> definitions() {
        return DEFINITIONS.configKeys();
    }

    /**
     * Returns the values of the keys that {@code config} does not define; it will not log that they are unused.
     *
     * @param parsed the values of those that it defines
     * @throws org.apache.kafka.common.config.ConfigException a value is out of range
     */
    static Map<String, Object> values(AbstractConfig config, Map<String, Object> parsed) {
        Map<String, Object> values = new HashMap<>(DEFINITIONS.parse(config.originals()));
        values.keySet().removeAll(parsed.keySet());
        return values;
    }
}
