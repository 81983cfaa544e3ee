package dev.millrace.client.support;

import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * How soon a producer must work again after a fault, worked out from its settings. A test that waits longer would pass
 * although records wait for something that nobody promised, such as the next look at old metadata.
 */
public final class Deadlines {
    /** What a busy machine may add: threads that get no CPU, a broker's code that runs for the first time. */
    private static final Duration STALL = Duration.ofSeconds(10);

    /** Backoffs are at most a fifth longer than their setting. */
    private static final double JITTER = 1.2;

    private Deadlines() {}

    /**
     * From the end of a fault until a record is acknowledged. At worst a request went out just before the end and is given
     * up after {@code request.timeout.ms}; the connection is made anew after {@code reconnect.backoff.max.ms}; then metadata
     * is asked for after {@code retry.backoff.max.ms}, and after that once more the record goes out.
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

    /** From a broker's sudden death until a record is acknowledged by those who take over from it. */
    public static Duration failover(Object... more) {
        return KafkaCluster.ELECTION_TIMEOUT.plus(recovery(more));
    }

    /** From {@code send} until the record has an outcome: it waits for metadata or memory, and then in its batch. */
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
