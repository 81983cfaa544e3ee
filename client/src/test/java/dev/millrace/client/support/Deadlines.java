package dev.millrace.client.support;

import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * How soon a producer must work again after a fault, computed from its settings. A test that waits longer would also
 * pass if records waited for something else, such as the next refresh of old metadata.
 */
public final class Deadlines {
    /** What a busy machine may add: threads get no CPU, a broker runs code for the first time. */
    private static final Duration STALL = Duration.ofSeconds(10);

    /** Backoffs are at most 20 % longer than their setting. */
    private static final double JITTER = 1.2;

    private Deadlines() {}

    /**
     * From the end of a fault until a record is acknowledged. At worst a request was sent just before the end. It is
     * abandoned after {@code request.timeout.ms}; the producer connects again after {@code reconnect.backoff.max.ms},
     * requests metadata after {@code retry.backoff.max.ms}, and sends the record after the same backoff again.
     *
     * @param more pairs of key and value, as for {@link ProducerKind#create(Map, Object...)}
     */
    public static Duration recovery(Object... more) {
        ProducerConfig config = config(more);
        double backoffsMs = JITTER
                * (config.getLong(ProducerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG)
                        + 2 * config.getLong(ProducerConfig.RETRY_BACKOFF_MAX_MS_CONFIG));
        return Duration.ofMillis(config.getInt(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG) + (long) backoffsMs)
                .plus(STALL);
    }

    /** From a broker's sudden death until a new leader acknowledges a record. */
    public static Duration failover(Object... more) {
        return KafkaCluster.ELECTION_TIMEOUT.plus(recovery(more));
    }

    /**
     * From {@code send} until the record has an outcome: it waits for metadata or memory first, and then in its batch.
     */
    public static Duration outcome(Object... more) {
        ProducerConfig config = config(more);
        return Duration.ofMillis(config.getLong(ProducerConfig.MAX_BLOCK_MS_CONFIG)
                        + config.getInt(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG))
                .plus(STALL);
    }

    private static ProducerConfig config(Object... more) {
        Map<String, Object> configs =
                new HashMap<>(ProducerKind.with(Map.of("bootstrap.servers", "localhost:1"), more));
        configs.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        configs.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        return new ProducerConfig(configs);
    }
}
