package dev.millrace.chaos;

import static dev.millrace.faults.BreakableCluster.get;

import dev.millrace.faults.BreakableCluster;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicCollection;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.TransactionalIdNotFoundException;
import org.apache.kafka.common.errors.UnknownTopicIdException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * Asks and changes topics of a cluster of which any broker may be away at any time: what fails is tried again.
 *
 * <p><b>Threads:</b> any.
 */
final class ChaosCluster implements AutoCloseable {
    static final int BROKERS = 3;

    /** The broker that has topics of which it is the only replica; its disk is never lost. */
    static final int SOLE = BROKERS;

    /** For what the brokers do among themselves when nothing or one thing is broken. */
    static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Admin admin;

    ChaosCluster(KafkaCluster cluster) {
        admin = BreakableCluster.createAdmin(cluster);
    }

    /** Starts a cluster that notices soon that something is broken. */
    static KafkaCluster start() {
        return BreakableCluster.builder()
                .brokers(BROKERS)
                .listeners(Listener.PROXIED, Listener.REPLICATION, Listener.SASL_SSL)
                // Otherwise producers, which go on asking for a topic that was deleted, create it again.
                .setting("auto.create.topics.enable", "false")
                .setting("connections.max.reauth.ms", "3000")
                .setting("leader.imbalance.check.interval.seconds", "10")
                .setting("transaction.abort.timed.out.transaction.cleanup.interval.ms", "500")
                // A broker that is down when min.insync.replicas changes would be forgotten as eligible, and the
                // partition would never have a leader again.
                .feature("eligible.leader.replicas.version", 0)
                .start();
    }

    void create(ChaosTopic topic) {
        NewTopic wanted = topic.wanted();
        Await.until(topic.name() + " is created", PATIENCE, () -> {
            try {
                get(admin.createTopics(List.of(wanted)).all());
                return true;
            } catch (ExecutionException e) {
                return e.getCause() instanceof TopicExistsException; // an earlier try was not answered in time
            } catch (TimeoutException e) {
                return false;
            }
        });
        Await.until("the leaders of " + topic.name() + " serve it", PATIENCE, () -> isServed(topic.name()));
    }

    private boolean isServed(String topic) {
        Optional<TopicDescription> description =
                Optional.ofNullable(describe(List.of(topic)).get(topic));
        int partitions = description.map(d -> d.partitions().size()).orElse(0);
        Map<TopicPartition, OffsetSpec> ends = IntStream.range(0, partitions)
                .boxed()
                .collect(Collectors.toMap(p -> new TopicPartition(topic, p), p -> OffsetSpec.latest()));
        return partitions > 0 && succeeds(admin.listOffsets(ends).all());
    }

    /**
     * Blocks until the topic is gone. By its id, because a broker that was paused may carry out an old request later, when
     * there is another topic of that name.
     */
    void delete(String topic) {
        Uuid[] id = {null};
        Await.until(topic + " has an id", PATIENCE, () -> {
            Optional.ofNullable(describe(List.of(topic)).get(topic)).ifPresent(d -> id[0] = d.topicId());
            return id[0] != null;
        });
        Await.until(topic + " is gone", PATIENCE, () -> {
            try {
                get(admin.deleteTopics(TopicCollection.ofTopicIds(List.of(id[0])))
                        .all());
                return false; // until the id is unknown
            } catch (ExecutionException e) {
                return e.getCause() instanceof UnknownTopicIdException
                        || e.getCause() instanceof UnknownTopicOrPartitionException;
            } catch (TimeoutException e) {
                return false;
            }
        });
    }

    /** Returns how many partitions the topic has then; it may have failed. */
    int grow(String topic, int partitions) {
        var unused = succeeds(admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(partitions)))
                .all());
        return partitions(topic);
    }

    /** As a broker tells it now. */
    int partitions(String topic) {
        TopicDescription[] description = {null};
        Await.until(topic + " is described", PATIENCE, () -> {
            description[0] = describe(List.of(topic)).get(topic);
            return description[0] != null;
        });
        return description[0].partitions().size();
    }

    /** Lets topics that were given more partitions know how many they have. */
    void updatePartitions(List<ChaosTopic> topics) {
        topics.forEach(topic -> topic.setPartitions(partitions(topic.name())));
    }

    /** Puts the replicas of partitions into this order, so that the first one is to lead; it may fail. */
    boolean reorder(Map<TopicPartition, List<Integer>> replicas) {
        Map<TopicPartition, Optional<NewPartitionReassignment>> wanted = new HashMap<>();
        replicas.forEach((partition, order) -> wanted.put(partition, Optional.of(new NewPartitionReassignment(order))));
        return succeeds(admin.alterPartitionReassignments(wanted).all());
    }

    /** Asks for an election; it may fail. */
    boolean elect(ElectionType type, Set<TopicPartition> partitions) {
        return succeeds(admin.electLeaders(type, partitions).all());
    }

    /** The leader of a partition; −1 if there is none, or it cannot be asked now. */
    int leader(TopicPartition partition) {
        return find(partition).map(TopicPartitionInfo::leader).map(Node::id).orElse(-1);
    }

    /** The replicas in sync of a partition; empty if that cannot be asked now. */
    Set<Integer> inSync(TopicPartition partition) {
        return find(partition).map(ChaosCluster::inSync).orElse(Set.of());
    }

    private Optional<TopicPartitionInfo> find(TopicPartition partition) {
        return Optional.ofNullable(describe(List.of(partition.topic())).get(partition.topic()))
                .map(description -> description.partitions().get(partition.partition()));
    }

    private static Set<Integer> inSync(TopicPartitionInfo partition) {
        return partition.isr().stream().map(Node::id).collect(Collectors.toSet());
    }

    /** Blocks until every replica of all topics that exist is in sync. */
    void awaitAllInSync(Collection<String> topics) {
        Await.until(
                "all replicas are in sync",
                PATIENCE,
                () -> allPartitions(
                        topics,
                        partition ->
                                partition.isr().size() == partition.replicas().size() && partition.leader() != null));
    }

    /** As {@link #awaitAllInSync}, but returns what is amiss after that time: the records can be judged all the same. */
    List<String> awaitEndOfFaults(Collection<String> topics) {
        try {
            awaitAllInSync(topics);
            return List.of();
        } catch (IllegalStateException e) {
            return List.of(e.getMessage());
        }
    }

    /** Whether no partition has this broker in sync, except those that have nobody else: they keep it. */
    boolean isOutOfSync(int broker, Collection<String> topics) {
        return allPartitions(
                topics,
                partition ->
                        !inSync(partition).contains(broker) || inSync(partition).size() == 1);
    }

    /** Whether no partition that this broker leads has a follower in sync. */
    boolean isAlone(int broker, Collection<String> topics) {
        return allPartitions(
                topics,
                partition -> partition.leader() == null
                        || partition.leader().id() != broker
                        || partition.isr().size() == 1);
    }

    private boolean allPartitions(Collection<String> topics, Predicate<TopicPartitionInfo> condition) {
        Map<String, TopicDescription> descriptions = describe(topics);
        return !descriptions.isEmpty()
                && descriptions.values().stream()
                        .flatMap(description -> description.partitions().stream())
                        .allMatch(condition);
    }

    /** Blocks until a setting of a topic, or of all brokers, has this value. */
    void set(ConfigResource resource, String name, String value) {
        Map<ConfigResource, Collection<AlterConfigOp>> change =
                Map.of(resource, List.of(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET)));
        Await.until(
                name + " of " + resource + " is " + value,
                PATIENCE,
                () -> succeeds(admin.incrementalAlterConfigs(change).all()));
    }

    /** Those of the partitions whose leader knows a producer now; partitions that cannot be asked are missing. */
    Map<TopicPartition, Boolean> hasProducers(Collection<TopicPartition> partitions) {
        var described = admin.describeProducers(partitions);
        Map<TopicPartition, Boolean> known = new HashMap<>();
        for (TopicPartition partition : partitions) {
            try {
                known.put(
                        partition,
                        !get(described.partitionResult(partition))
                                .activeProducers()
                                .isEmpty());
            } catch (ExecutionException | TimeoutException e) {
                // Its leader is away.
            }
        }
        return known;
    }

    /** Whether the coordinator has committed or aborted the last transaction of this id, or has none; false if it cannot be asked. */
    boolean hasNoOpenTransaction(String transactionalId) {
        try {
            TransactionState state = get(admin.describeTransactions(Set.of(transactionalId))
                            .description(transactionalId))
                    .state();
            return state != TransactionState.ONGOING;
        } catch (ExecutionException e) {
            return e.getCause() instanceof TransactionalIdNotFoundException;
        } catch (TimeoutException e) {
            return false;
        }
    }

    /** Those of the topics that exist, of which at least one must. */
    Set<String> existing(Collection<String> topics) {
        Set<String> existing = new HashSet<>();
        Await.until("the topics are described", PATIENCE, () -> {
            existing.addAll(describe(topics).keySet());
            return !existing.isEmpty(); // else it could not be asked
        });
        return existing;
    }

    private Map<String, TopicDescription> describe(Collection<String> topics) {
        Map<String, TopicDescription> known = new HashMap<>();
        for (var description : admin.describeTopics(topics).topicNameValues().entrySet()) {
            try {
                known.put(description.getKey(), get(description.getValue()));
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof UnknownTopicOrPartitionException)) {
                    return Map.of();
                }
            } catch (TimeoutException e) {
                return Map.of();
            }
        }
        return known;
    }

    private static boolean succeeds(KafkaFuture<?> future) {
        try {
            get(future);
            return true;
        } catch (ExecutionException | TimeoutException e) {
            return false;
        }
    }

    @Override
    public void close() {
        admin.close(Duration.ZERO);
    }
}
