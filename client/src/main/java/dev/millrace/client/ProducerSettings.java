package dev.millrace.client;

import dev.millrace.client.io.Backoff;
import dev.millrace.client.io.SenderSettings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.Serializer;

/** Reads a {@link ProducerConfig}. What Millrace does not support it rejects, instead of ignoring it. */
final class ProducerSettings {
    /** Kafka has no public constants for this key and the next. */
    private static final String METADATA_RECOVERY_STRATEGY = "metadata.recovery.strategy";

    private static final String METADATA_RECOVERY_TRIGGER_MS = "metadata.recovery.rebootstrap.trigger.ms";

    /** Kafka's selector counts in nanoseconds; with more than 146 years it would close each connection at once. */
    private static final long MAX_IDLE_MS = TimeUnit.NANOSECONDS.toMillis(Long.MAX_VALUE / 2);

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
        ProducerConfig config = new ProducerConfig(complete);
        if (config.getLong(ProducerConfig.CONNECTIONS_MAX_IDLE_MS_CONFIG) > MAX_IDLE_MS) {
            complete.put(ProducerConfig.CONNECTIONS_MAX_IDLE_MS_CONFIG, MAX_IDLE_MS);
            config = new ProducerConfig(complete);
        }
        rejectUnlessOff(
                config,
                ProducerConfig.TRANSACTION_TWO_PHASE_COMMIT_ENABLE_CONFIG,
                "Producer has no method to prepare a transaction or to complete a prepared one (KIP-939), and the brokers'"
                        + " side is not released");
        checkMemory(config);
        return config;
    }

    private static void putSerializer(Map<String, Object> configs, String key, Serializer<?> serializer) {
        if (serializer != null) {
            configs.put(key, serializer.getClass());
        } else if (configs.get(key) == null) {
            throw new ConfigException(key, null, "must be the class of a Serializer, or give one to the constructor.");
        }
    }

    /** Rejects a key that is set to anything but "off". */
    private static void rejectUnlessOff(ProducerConfig config, String key, String reason) {
        Object value = config.values().get(key);
        boolean off = value == null || value.equals(false) || value.equals(0L) || value.equals(List.of());
        if (config.originals().containsKey(key) && !off) {
            throw new ConfigException(key, value, "Millrace cannot honour it: " + reason + ". Leave it out.");
        }
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

    /**
     * Milliseconds. At most {@code Integer.MAX_VALUE}, as in the stock producer: 25 days are as good as "until the
     * flush".
     */
    private static int lingerMs(ProducerConfig config) {
        return (int) Math.min(config.getLong(ProducerConfig.LINGER_MS_CONFIG), Integer.MAX_VALUE);
    }

    /** Milliseconds: as configured; if not set, at least {@code linger.ms} plus {@code request.timeout.ms}. */
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
     * The settings of the I/O threads.
     *
     * @throws ConfigException {@code delivery.timeout.ms} is set too low
     */
    static SenderSettings senderSettings(ProducerConfig config) {
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
                config.getLong(METADATA_RECOVERY_TRIGGER_MS));
    }
}
