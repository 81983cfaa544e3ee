package dev.millrace.client.support;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;

/** Moves leaders, as operators do. */
public final class Leaders {
    /** For what brokers do among themselves; no limit for producers. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private Leaders() {}

    /** Puts a partition's replicas on these brokers, and blocks until the first of them leads. */
    public static void move(KafkaCluster cluster, String topic, int partition, List<Integer> replicas) {
        TopicPartition moving = new TopicPartition(topic, partition);
        get(cluster.admin()
                .alterPartitionReassignments(Map.of(moving, Optional.of(new NewPartitionReassignment(replicas))))
                .all());
        Await.until(
                moving + " has moved to " + replicas,
                PATIENCE,
                () -> get(cluster.admin()
                                .listPartitionReassignments(Set.of(moving))
                                .reassignments())
                        .isEmpty());
        Await.until(replicas.get(0) + " leads " + moving, PATIENCE, () -> {
            var elected = cluster.admin()
                    .electLeaders(ElectionType.PREFERRED, Set.of(moving))
                    .partitions();
            return get(elected).size() == 1 && cluster.leader(topic, partition) == replicas.get(0);
        });
    }

    /** The brokers of a cluster of three, in an order that makes another of them the leader. */
    public static List<Integer> others(KafkaCluster cluster, String topic, int partition) {
        return from(cluster.leader(topic, partition) % 3 + 1);
    }

    /** The brokers 1 to 3 in a cycle, from this one. */
    public static List<Integer> from(int first) {
        return List.of(first, first % 3 + 1, (first + 1) % 3 + 1);
    }

    private static <T> T get(Future<T> future) {
        try {
            return future.get();
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }
}
