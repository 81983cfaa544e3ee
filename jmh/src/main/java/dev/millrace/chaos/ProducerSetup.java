package dev.millrace.chaos;

import dev.millrace.client.MillraceProducer;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.cluster.SaslMechanism;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The producer's settings, as the seed chooses them.
 *
 * @param listener with {@link Listener#PROXIED} the network breaks; with {@link Listener#SASL_SSL} brokers ask for a new
 *     authentication every 3 s
 * @param settings of the producer, but for those that connect it
 */
record ProducerSetup(Listener listener, SaslMechanism mechanism, Map<String, Object> settings) {
    static ProducerSetup of(Random random) {
        Map<String, Object> settings = new TreeMap<>();
        settings.put("acks", "all");
        settings.put("enable.idempotence", true);
        settings.put("request.timeout.ms", 2_000);
        settings.put("max.block.ms", 2_000);
        settings.put("buffer.memory", 4L << 20);
        settings.put("metadata.max.age.ms", 10_000);
        settings.put("delivery.timeout.ms", pick(random, 4_000, 8_000, 30_000));
        settings.put("batch.size", pick(random, 1_000, 4_000, 16_384));
        settings.put("linger.ms", pick(random, 0, 5, 50));
        settings.put("compression.type", pick(random, "none", "lz4", "zstd"));
        settings.put("millrace.io.threads", pick(random, 1, 2));
        SaslMechanism[] mechanisms = SaslMechanism.values();
        boolean isEncrypted = random.nextInt(3) == 0;
        return new ProducerSetup(
                isEncrypted ? Listener.SASL_SSL : Listener.PROXIED,
                mechanisms[random.nextInt(mechanisms.length)],
                settings);
    }

    private static Object pick(Random random, Object... values) {
        return values[random.nextInt(values.length)];
    }

    /** @param more settings, not chosen by the seed */
    Producer<byte[], byte[]> create(KafkaCluster cluster, boolean isStock, Map<String, Object> more) {
        Map<String, Object> config = new HashMap<>(settings);
        config.putAll(more);
        config.putAll(cluster.clientConfig(listener, mechanism));
        if (isStock) {
            config.remove("millrace.io.threads");
            return new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        }
        return new MillraceProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }

    @Override
    public String toString() {
        String connection = listener == Listener.PROXIED ? "plain text" : "TLS and " + mechanism.kafkaName();
        return connection + ", " + settings;
    }
}
