package dev.millrace.programs;

import dev.millrace.testkit.cluster.KafkaCluster;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;

/** The topics of one cluster to which runs write, one after the other. */
record RunTopics(KafkaCluster cluster) {
    static final int PARTITIONS = 6;

    /** Blocks until brokers serve it. */
    void create(String topic) {
        cluster.createServedTopic(topic, PARTITIONS, 1, Map.of());
    }

    /** Returns how many records it has. */
    long end(String topic) {
        Map<TopicPartition, OffsetSpec> all = IntStream.range(0, PARTITIONS)
                .boxed()
                .collect(Collectors.toMap(number -> new TopicPartition(topic, number), number -> OffsetSpec.latest()));
        return get(cluster.admin().listOffsets(all).all()).values().stream()
                .mapToLong(end -> end.offset())
                .sum();
    }

    /** Makes room on the disk for the next run. */
    void delete(String topic) {
        get(cluster.admin().deleteTopics(List.of(topic)).all());
    }

    private static <T> T get(KafkaFuture<T> answer) {
        try {
            return answer.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("The broker does not do what it was asked for: " + e.getCause(), e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
