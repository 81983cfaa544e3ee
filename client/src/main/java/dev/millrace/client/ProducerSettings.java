package dev.millrace.client;

import dev.millrace.client.io.Backoff;
import dev.millrace.client.io.SenderSettings;
import dev.millrace.client.kafka.NewerKeys;
import dev.millrace.client.kafka.WorkableConfigs;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.Serializer;

/** Reads a {@link ProducerConfig}. Rejects what Millrace does not support, instead of ignoring it. */
final class ProducerSettings {
    /** Kafka has no public constant for it. */
    private static final String METADATA_RECOVERY_STRATEGY = "metadata.recovery.strategy";

    /** The supported keys, together with those of security, which the private copy of Kafka's internals reads. */
    private static final Set<String> HONOURED = Set.of(
            ("acks batch.size bootstrap.resolve.timeout.ms bootstrap.servers buffer.memory client.dns.lookup client.id compression.gzip.level"
                            + " compression.lz4.level compression.type compression.zstd.level config.providers"
                            + " connections.max.idle.ms delivery.timeout.ms enable.idempotence enable.metrics.push"
                            + " interceptor.classes key.serializer linger.ms max.block.ms"
                            + " max.in.flight.requests.per.connection max.request.size metadata.cluster.check.enable"
                            + " metadata.max.age.ms metadata.max.idle.ms metadata.recovery.rebootstrap.trigger.ms"
                            + " metadata.recovery.strategy metric.reporters metrics.num.samples"
                            + " metrics.recording.level metrics.sample.window.ms"
                            + " partitioner.adaptive.partitioning.enable partitioner.availability.timeout.ms"
                            + " partitioner.class partitioner.ignore.keys receive.buffer.bytes"
                            + " reconnect.backoff.max.ms reconnect.backoff.ms request.timeout.ms retries"
                            + " retry.backoff.max.ms retry.backoff.ms send.buffer.bytes"
                            + " socket.connection.setup.timeout.max.ms socket.connection.setup.timeout.ms"
                            + " transaction.timeout.ms transactional.id value.serializer"
                            // of 3.9
                            + " auto.include.jmx.reporter"
                            // of 4.4; memory follows use whatever the strategy says
                            + " buffer.memory.allocation.strategy client.rack partitioner.rack.aware")
                    .split(" "));

    private static final Set<ConfigDef.Type> NEVER_NULL =
            Set.of(ConfigDef.Type.BOOLEAN, ConfigDef.Type.INT, ConfigDef.Type.LONG);

    private static final Pattern SECURITY = Pattern.compile("(ssl|sasl|security)\\..*");

    private ProducerSettings() {}

    /**
     * Parses and checks a configuration.
     *
     * @param keySerializer null if {@code configs} names the class
     * @param valueSerializer null if {@code configs} names the class
     * @throws ConfigException a key is missing, a value is out of range, or Millrace does not support it
     */
    static ProducerConfig parse(
            Map<String, Object> configs, Serializer<?> keySerializer, Serializer<?> valueSerializer) {
        Map<String, Object> complete = new HashMap<>(configs);
        putSerializer(complete, ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, keySerializer);
        putSerializer(complete, ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, valueSerializer);
        rejectNulls(complete);
        ProducerConfig config = WorkableConfigs.producer(complete);
        rejectUnknown(config);
        checkMemory(config);
        checkTransactionTimeout(config);
        return config;
    }

    private static void putSerializer(Map<String, Object> configs, String key, Serializer<?> serializer) {
        if (serializer != null) {
            configs.put(key, serializer.getClass());
        } else if (configs.get(key) == null) {
            throw new ConfigException(key, null, "must be the class of a Serializer, or give one to the constructor.");
        }
    }

    /** Kafka's definitions let null pass for a client's name, and for some numbers and flags that have a default. */
    private static void rejectNulls(Map<String, Object> configs) {
        Map<String, ConfigDef.ConfigKey> definitions = new HashMap<>(NewerKeys.definitions());
        definitions.putAll(ProducerConfig.configDef().configKeys());
        definitions.forEach((key, definition) -> {
            boolean isNull = configs.containsKey(key) && configs.get(key) == null;
            boolean canBeNull = definition.defaultValue == null
                    || !NEVER_NULL.contains(definition.type)
                    || SECURITY.matcher(key).matches();
            if (isNull && (!canBeNull || key.equals(ProducerConfig.CLIENT_ID_CONFIG))) {
                throw new ConfigException(key, null, "must not be null; leave it out for the default.");
            }
        });
    }

    /**
     * Rejects what the application's version of kafka-clients knows and Millrace does not, unless it is set to its
     * default.
     */
    private static void rejectUnknown(ProducerConfig config) {
        for (Map.Entry<String, ConfigDef.ConfigKey> known :
                ProducerConfig.configDef().configKeys().entrySet()) {
            String key = known.getKey();
            Object value = config.values().get(key);
            if (!HONOURED.contains(key)
                    && !SECURITY.matcher(key).matches()
                    && !Objects.equals(value, known.getValue().defaultValue)) {
                throw new ConfigException(key, value, "Millrace cannot honour it: " + reason(key) + ". Leave it out.");
            }
        }
    }

    private static String reason(String key) {
        return key.equals("transaction.two.phase.commit.enable")
                ? "Producer has no method to prepare a transaction or to complete a prepared one (KIP-939), and the"
                        + " brokers' side is not released"
                : "it is newer than this version of Millrace";
    }

    private static void checkMemory(ProducerConfig config) {
        int batchSize = config.getInt(ProducerConfig.BATCH_SIZE_CONFIG);
        long memory = config.getLong(ProducerConfig.BUFFER_MEMORY_CONFIG);
        if (batchSize > memory) {
            throw new ConfigException(
                    ProducerConfig.BATCH_SIZE_CONFIG,
                    batchSize,
                    "must not be larger than buffer.memory = " + memory + ".");
        }
    }

    private static void checkTransactionTimeout(ProducerConfig config) {
        int timeoutMs = config.getInt(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG);
        if (timeoutMs <= 0 && config.getString(ProducerConfig.TRANSACTIONAL_ID_CONFIG) != null) {
            throw new ConfigException(
                    ProducerConfig.TRANSACTION_TIMEOUT_CONFIG,
                    timeoutMs,
                    "must be positive: no coordinator takes a transaction that ends as it begins.");
        }
    }

    /**
     * Returns the rack whose leaders get the records without a key, or an empty string if all racks are alike.
     */
    static String preferredRack(ProducerConfig config) {
        String rack = config.getString(NewerKeys.CLIENT_RACK);
        return config.getBoolean(NewerKeys.RACK_AWARE) && rack != null ? rack : "";
    }

    /**
     * Returns milliseconds, at most {@code Integer.MAX_VALUE}, as in the stock producer: 25 days are as good as "until
     * the flush".
     */
    private static int lingerMs(ProducerConfig config) {
        return (int) Math.min(config.getLong(ProducerConfig.LINGER_MS_CONFIG), Integer.MAX_VALUE);
    }

    /** Returns milliseconds as configured; if not set, at least {@code linger.ms} plus {@code request.timeout.ms}. */
    private static int deliveryTimeoutMs(ProducerConfig config) {
        long sumMs = (long) lingerMs(config) + config.getInt(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG);
        int neededMs = (int) Math.min(sumMs, Integer.MAX_VALUE); // the largest value that can be set
        int givenMs = config.getInt(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG);
        if (givenMs < neededMs && config.originals().containsKey(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG)) {
            throw new ConfigException(
                    ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
                    givenMs,
                    "should be equal to or larger than linger.ms + request.timeout.ms = " + neededMs + ".");
        }
        return Math.max(givenMs, neededMs);
    }

    /**
     * Returns the settings of the I/O threads.
     *
     * @throws ConfigException {@code delivery.timeout.ms} is set too low
     */
    static SenderSettings senderSettings(ProducerConfig config, MillraceConfig own) {
        return new SenderSettings(
                lingerMs(config),
                deliveryTimeoutMs(config),
                config.getInt(ProducerConfig.RETRIES_CONFIG),
                new Backoff(
                        config.getLong(ProducerConfig.RETRY_BACKOFF_MS_CONFIG),
                        config.getLong(ProducerConfig.RETRY_BACKOFF_MAX_MS_CONFIG)),
                config.getInt(ProducerConfig.MAX_REQUEST_SIZE_CONFIG),
                config.getInt(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION),
                config.getBoolean(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG),
                config.getLong(ProducerConfig.METADATA_MAX_AGE_CONFIG),
                config.getLong(ProducerConfig.METADATA_MAX_IDLE_CONFIG),
                "rebootstrap".equalsIgnoreCase(config.getString(METADATA_RECOVERY_STRATEGY)),
                config.getLong(NewerKeys.METADATA_RECOVERY_TRIGGER_MS),
                own.mayCreateTopics());
    }
}
