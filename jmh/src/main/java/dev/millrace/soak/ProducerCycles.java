package dev.millrace.soak;

import dev.millrace.client.MillraceProducer;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Producers that are opened, send, and are closed, in each way that a producer can end. */
final class ProducerCycles {
    private static final int RECORDS = 20;

    private final KafkaCluster cluster;
    private final String topic;

    /** @param topic exists */
    ProducerCycles(KafkaCluster cluster, String topic) {
        this.cluster = cluster;
        this.topic = topic;
    }

    /** The way of a cycle, which follows from its number. */
    void run(int number) {
        switch (number % 5) {
            case 0 -> sendAndClose(Duration.ofMinutes(1), Map.of());
            case 1 -> sendAndClose(Duration.ofMinutes(1), Map.of("compression.type", "zstd", "millrace.io.threads", 2));
            case 2 -> sendAndClose(Duration.ZERO, Map.of("linger.ms", 1_000)); // with records in its buffers
            case 3 -> commitAndClose();
            default -> failToOpen();
        }
    }

    private void sendAndClose(Duration timeout, Map<String, Object> more) {
        Producer<byte[], byte[]> producer = open(more);
        send(producer);
        producer.close(timeout);
    }

    private void commitAndClose() {
        try (Producer<byte[], byte[]> producer = open(Map.of("transactional.id", "soak"))) {
            producer.initTransactions();
            producer.beginTransaction();
            send(producer);
            producer.commitTransaction();
        }
    }

    /** The constructor has made most of the producer when it fails. */
    private void failToOpen() {
        try (Producer<byte[], byte[]> producer = open(Map.of("interceptor.classes", "no.such.Interceptor"))) {
            throw new IllegalStateException("There is no such interceptor, but there is " + producer);
        } catch (KafkaException expected) {
            // its parts must be closed
        }
    }

    private Producer<byte[], byte[]> open(Map<String, Object> more) {
        Map<String, Object> config = new HashMap<>(cluster.clientConfig());
        config.putAll(more);
        return new MillraceProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private void send(Producer<byte[], byte[]> producer) {
        for (int i = 0; i < RECORDS; i++) {
            producer.send(new ProducerRecord<>(topic, new byte[200]), (metadata, exception) -> {});
        }
    }
}
