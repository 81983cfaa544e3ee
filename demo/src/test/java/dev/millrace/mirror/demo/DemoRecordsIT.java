package dev.millrace.mirror.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("thorough")
class DemoRecordsIT {
    @Test
    void shouldWriteBatchesOfTheRecordsThatAreAskedFor() {
        try (KafkaCluster cluster = KafkaCluster.builder().start()) {
            cluster.createTopic(Demo.TOPIC, Demo.PARTITIONS, 1, Map.of());
            int batch = 700;
            long records = 3L * batch * Demo.PARTITIONS - batch + 10;

            DemoRecords.write(
                    cluster.clientConfig(),
                    new DemoLoad(records, 100, "snappy", OptionalInt.of(batch), 0),
                    written -> {});

            assertThat(batches(cluster, 0, 3 * batch)).containsExactly(batch, batch, batch);
            assertThat(batches(cluster, Demo.PARTITIONS - 1, 2 * batch + 10)).containsExactly(batch, batch, 10);
        }
    }

    /** How many records each batch has: the broker answers with one batch when not even the first is small enough. */
    private static List<Integer> batches(KafkaCluster cluster, int partition, int records) {
        Map<String, Object> config = cluster.clientConfig();
        config.put(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, 1);
        config.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 100_000);
        TopicPartition one = new TopicPartition(Demo.TOPIC, partition);
        List<Integer> batches = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(List.of(one));
            consumer.seekToBeginning(List.of(one));
            while (batches.stream().mapToInt(Integer::intValue).sum() < records) {
                int count = consumer.poll(Duration.ofSeconds(1)).count();
                if (count > 0) {
                    batches.add(count);
                }
            }
        }
        return batches;
    }
}
