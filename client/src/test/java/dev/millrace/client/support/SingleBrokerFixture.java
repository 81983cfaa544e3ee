package dev.millrace.client.support;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;

/** One broker for a class of tests, which make the same calls with the stock producer and with ours. */
public abstract class SingleBrokerFixture {
    protected static final Duration PATIENCE = Duration.ofSeconds(30);

    @AutoClose
    protected static KafkaCluster cluster;

    @BeforeAll
    protected static void start() {
        cluster = KafkaCluster.builder()
                .listeners(Listener.PLAINTEXT, Listener.SASL_PLAINTEXT)
                .setting("auto.create.topics.enable", "false") // tests wait in vain for topics that do not exist
                .setting("log.retention.ms", "-1") // some records that are read back are years old
                .start();
    }

    /** Creates a topic for this kind of producer. */
    protected static String topic(String name, ProducerKind kind, int partitions) {
        return topic(name, kind, partitions, Map.of());
    }

    protected static String topic(String name, ProducerKind kind, int partitions, Map<String, String> configs) {
        String topic = name + "-" + kind.name().toLowerCase(Locale.ROOT);
        kind.createTopic(cluster, topic, partitions, 1, configs);
        return topic;
    }

    protected static ProducerRecord<byte[], byte[]> record(String topic) {
        return record(topic, 10);
    }

    protected static ProducerRecord<byte[], byte[]> record(String topic, int valueSize) {
        return new ProducerRecord<>(topic, new byte[valueSize]);
    }

    /**
     * Sends with the stock producer one record to every partition and waits until all are acknowledged, because
     * otherwise KAFKA-15591 may keep it from ever recovering in a new partition. Ours needs no such help.
     *
     * @return how many records were sent
     */
    protected static int sendFirstIfStock(Producer<byte[], byte[]> producer, String topic, int partitions)
            throws Exception {
        if (ProducerKind.of(producer) != ProducerKind.STOCK) {
            return 0;
        }
        sendFirst(producer, topic, partitions);
        return partitions;
    }

    /** Sends one record to every partition until all are acknowledged: the producer knows the topic and is connected. */
    protected static void sendFirst(Producer<byte[], byte[]> producer, String topic, int partitions) throws Exception {
        List<Future<RecordMetadata>> first = new ArrayList<>();
        for (int p = 0; p < partitions; p++) {
            first.add(producer.send(new ProducerRecord<>(topic, p, null, new byte[10])));
        }
        producer.flush();
        for (Future<RecordMetadata> future : first) {
            assertThat(future.get().hasOffset()).isTrue();
        }
    }

    /** The value of one of the metrics that a producer has once. */
    public static double metric(Producer<?, ?> producer, String name) {
        return producer.metrics().entrySet().stream()
                .filter(metric -> metric.getKey().name().equals(name)
                        && metric.getKey().group().equals("producer-metrics"))
                .mapToDouble(metric -> (double) metric.getValue().metricValue())
                .sum();
    }
}
