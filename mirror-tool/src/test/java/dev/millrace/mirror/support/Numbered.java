package dev.millrace.mirror.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Records whose values are a name and a number, so that a test can say which of them a partition has, in which order. */
public final class Numbered {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private Numbered() {}

    /** The values name-from, ..., name-(to - 1). */
    public static List<String> values(String name, int from, int to) {
        return IntStream.range(from, to).mapToObj(number -> name + "-" + number).toList();
    }

    /** Appends these values, each in a batch of its own, and waits until they are written. */
    public static void write(KafkaCluster cluster, TopicPartition partition, List<String> values) {
        Map<String, Object> config = cluster.clientConfig();
        config.put("batch.size", 0);
        List<Future<?>> results = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer = StockProducers.create(config)) {
            for (String value : values) {
                results.add(producer.send(
                        new ProducerRecord<>(partition.topic(), partition.partition(), null, value.getBytes(UTF_8))));
            }
        }
        results.forEach(MirrorFixture::get);
    }

    /** All values that the partition has now, in order. */
    public static List<String> read(KafkaCluster cluster, TopicPartition partition) {
        List<String> values = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(cluster.clientConfig(), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            while (consumer.position(partition) < end) {
                consumer.poll(Duration.ofMillis(100)).forEach(record -> values.add(new String(record.value(), UTF_8)));
                if (System.nanoTime() > deadline) {
                    throw new AssertionError("Could not read " + partition + " to " + end + " within " + PATIENCE);
                }
            }
        }
        return values;
    }
}
