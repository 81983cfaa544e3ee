package dev.millrace.testkit.cluster;

import dev.millrace.testkit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads a topic with the stock consumer, as a user would. */
public final class TopicContents {
    private TopicContents() {}

    /**
     * All committed records, after no transaction of the topic is open: brokers write the end of a transaction in the
     * background.
     */
    public static List<ConsumerRecord<byte[], byte[]>> readCommitted(KafkaCluster cluster, String topic) {
        try {
            Await.until(
                    "no transaction of " + topic + " is open",
                    Duration.ofSeconds(60),
                    () -> end(cluster, topic, IsolationLevel.READ_COMMITTED)
                            == end(cluster, topic, IsolationLevel.READ_UNCOMMITTED));
        } catch (IllegalStateException e) {
            throw new AssertionError(TopicState.of(cluster, topic), e);
        }
        return read(with(cluster.clientConfig(), IsolationLevel.READ_COMMITTED), topic);
    }

    /** The sum of the partitions' end offsets; those of committed records end before the first open transaction. */
    public static long end(KafkaCluster cluster, String topic, IsolationLevel isolation) {
        return end(cluster.clientConfig(), topic, isolation);
    }

    /** The same for a client with this configuration. */
    public static long end(Map<String, Object> client, String topic, IsolationLevel isolation) {
        Map<String, Object> configs = with(client, isolation);
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(configs, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            return consumer.endOffsets(partitions(consumer, topic)).values().stream()
                    .mapToLong(Long::longValue)
                    .sum();
        }
    }

    private static Map<String, Object> with(Map<String, Object> client, IsolationLevel isolation) {
        Map<String, Object> configs = new HashMap<>(client);
        configs.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, isolation.toString());
        return configs;
    }

    private static List<TopicPartition> partitions(KafkaConsumer<byte[], byte[]> consumer, String topic) {
        return consumer.partitionsFor(topic).stream()
                .map(info -> new TopicPartition(topic, info.partition()))
                .collect(Collectors.toList());
    }

    /** All records of the topic up to its present end, by partition and offset. */
    public static List<ConsumerRecord<byte[], byte[]>> read(Map<String, Object> client, String topic) {
        Map<String, Object> configs = new HashMap<>(client);
        configs.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(configs, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = partitions(consumer, topic);
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
                consumer.poll(Duration.ofSeconds(1)).forEach(records::add);
            }
        }
        records.sort((a, b) -> a.partition() != b.partition()
                ? Integer.compare(a.partition(), b.partition())
                : Long.compare(a.offset(), b.offset()));
        return records;
    }
}
