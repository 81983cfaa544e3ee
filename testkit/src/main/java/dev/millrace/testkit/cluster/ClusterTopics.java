package dev.millrace.testkit.cluster;

import dev.millrace.testkit.Await;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** Creates the topics of a cluster, and tells who serves them. Any thread may call any method. */
final class ClusterTopics {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final Admin admin;

    ClusterTopics(Admin admin) {
        this.admin = admin;
    }

    Uuid create(NewTopic topic) {
        return get(admin.createTopics(List.of(topic)).topicId(topic.name()));
    }

    void grow(String name, int partitions) {
        get(admin.createPartitions(Map.of(name, NewPartitions.increaseTo(partitions)))
                .all());
    }

    /** −1 while there is no leader, or no such topic. */
    int leader(String topic, int partition) {
        return describe(topic)
                .map(description -> description.partitions().get(partition).leader())
                .filter(Objects::nonNull)
                .map(Node::id)
                .orElse(-1);
    }

    /** Blocks until each partition has a leader that serves it. */
    void awaitServed(Uuid id, String name, int partitions) {
        Await.until(
                "every partition of topic " + name + " has a leader that serves it",
                TIMEOUT,
                () -> describe(name)
                        .filter(description -> description.topicId().equals(id)) // not a deleted topic of the same name
                        .filter(description -> description.partitions().size() == partitions)
                        .filter(description -> description.partitions().stream().allMatch(p -> p.leader() != null))
                        .filter(description -> isServed(name, partitions))
                        .isPresent());
    }

    private boolean isServed(String topic, int partitions) {
        Map<TopicPartition, OffsetSpec> ends = IntStream.range(0, partitions)
                .boxed()
                .collect(Collectors.toMap(p -> new TopicPartition(topic, p), p -> OffsetSpec.latest()));
        try {
            return get(admin.listOffsets(ends).all()).size() == partitions;
        } catch (RetriableException e) {
            return false;
        }
    }

    private Optional<TopicDescription> describe(String topic) {
        try {
            return Optional.of(
                    get(admin.describeTopics(List.of(topic)).allTopicNames()).get(topic));
        } catch (UnknownTopicOrPartitionException e) {
            return Optional.empty();
        }
    }

    private static <T> T get(KafkaFuture<T> future) {
        try {
            return future.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for the cluster", e);
        }
    }
}
