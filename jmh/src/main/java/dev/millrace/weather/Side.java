package dev.millrace.weather;

import static dev.millrace.faults.BreakableCluster.get;

import dev.millrace.faults.BreakableCluster;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.proxy.FaultProxy;
import dev.millrace.testkit.proxy.SlowLink;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

/**
 * One of the two clusters, which mirrors reach through a proxy before each broker, and perhaps a slow link after it.
 *
 * <p><b>Threads:</b> any, but one broker must be handled by one thread at a time.
 */
final class Side implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final String name;
    private final KafkaCluster cluster;
    private final List<SlowLink> links = new ArrayList<>();
    private final Admin admin;

    /** Starts the cluster. */
    Side(String name, int brokers, Map<String, String> settings) {
        this.name = name;
        KafkaCluster.Builder builder = BreakableCluster.builder()
                .brokers(brokers)
                .listeners(Listener.PROXIED)
                // So that no topic loses what it has acknowledged when one broker is away.
                .setting("default.replication.factor", Integer.toString(brokers))
                .setting("min.insync.replicas", Integer.toString(Math.min(2, brokers)));
        settings.forEach(builder::setting);
        cluster = builder.start();
        admin = BreakableCluster.createAdmin(cluster);
    }

    /** Puts a link between each proxy and its broker. */
    void moveAway(long bytesPerSecond, Duration roundTrip) {
        for (FaultProxy proxy : proxies()) {
            SlowLink link = new SlowLink(proxy.target(), bytesPerSecond, roundTrip);
            links.add(link);
            proxy.setTarget(link.port());
        }
    }

    KafkaCluster cluster() {
        return cluster;
    }

    List<FaultProxy> proxies() {
        return IntStream.rangeClosed(1, cluster.brokers())
                .mapToObj(cluster::proxy)
                .toList();
    }

    void create(TopicKind topic) {
        cluster.createTopic(topic.name(), topic.partitions(), cluster.brokers(), topic.settings());
    }

    /** Returns whether the topic has so many partitions now; false if it could not be asked for. */
    boolean grow(String topic, int partitions) {
        try {
            get(admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(partitions)))
                    .all());
            return true;
        } catch (ExecutionException | TimeoutException e) {
            return false;
        }
    }

    /** Blocks until every partition of the cluster has all of its replicas in sync. */
    void awaitAllInSync() {
        Await.until("all replicas of the " + name + " are in sync", PATIENCE, () -> {
            try {
                return describeAll().stream()
                        .flatMap(topic -> topic.partitions().stream())
                        .allMatch(partition -> partition.leader() != null
                                && partition.isr().size()
                                        == partition.replicas().size());
            } catch (ExecutionException | TimeoutException e) {
                return false;
            }
        });
    }

    private Collection<TopicDescription> describeAll() throws ExecutionException, TimeoutException {
        Set<String> all =
                get(admin.listTopics(new ListTopicsOptions().listInternal(true)).names());
        return get(admin.describeTopics(all).allTopicNames()).values();
    }

    /** The names of topics that users see. */
    Set<String> topics() throws ExecutionException, TimeoutException {
        return get(admin.listTopics().names());
    }

    /** The partitions of these topics, of which any may be missing. */
    List<TopicPartition> partitions(Collection<String> names) throws ExecutionException, TimeoutException {
        Set<String> existing = topics();
        existing.retainAll(names);
        return get(admin.describeTopics(existing).allTopicNames()).values().stream()
                .flatMap(topic -> topic.partitions().stream()
                        .map(partition -> new TopicPartition(topic.name(), partition.partition())))
                .toList();
    }

    /** The end of each of these partitions. */
    Map<TopicPartition, Long> ends(Collection<TopicPartition> partitions, IsolationLevel isolation)
            throws ExecutionException, TimeoutException {
        Map<TopicPartition, OffsetSpec> wanted =
                partitions.stream().collect(Collectors.toMap(partition -> partition, partition -> OffsetSpec.latest()));
        return get(admin.listOffsets(wanted, new ListOffsetsOptions(isolation)).all()).entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, end -> end.getValue().offset()));
    }

    /** What a group has committed here. */
    Map<TopicPartition, Long> committed(String group) throws ExecutionException, TimeoutException {
        return get(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata()).entrySet().stream()
                .filter(offset -> offset.getValue() != null)
                .collect(Collectors.toMap(
                        Map.Entry::getKey, offset -> offset.getValue().offset()));
    }

    @Override
    public String toString() {
        return name;
    }

    @Override
    public void close() {
        admin.close(Duration.ZERO);
        links.forEach(SlowLink::close);
        cluster.close();
    }
}
