package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.KafkaCluster;
import dev.millrace.testkit.Stamp;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What operators do to a cluster while records flow; nobody may see it in the records. */
class ClusterFaultsIT {
    private static final int PARTITIONS = 4;
    private static final int THREADS = 4;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static KafkaCluster cluster;

    @BeforeAll
    static void start() {
        cluster = KafkaCluster.builder().brokers(3).start();
    }

    @AfterAll
    static void stop() {
        cluster.close();
    }

    @Test
    void shouldDeliverEachRecordOnceAndInOrderWhenBrokersAreRestartedInTurn() throws Exception {
        // given
        String topic = topic("rolling", ProducerKind.MILLRACE, Map.of("min.insync.replicas", "2"));
        Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(cluster.clientConfig());
        LeakOracle leaks = LeakOracle.of(producer);
        StampedLoad load = new StampedLoad(producer, topic, PARTITIONS);
        load.start(THREADS);

        // when
        for (int broker = 1; broker <= cluster.brokers(); broker++) {
            load.awaitMore(1000);
            cluster.restart(broker);
            awaitFullIsr(topic);
        }
        load.awaitMore(1000);
        load.stop();
        producer.close();

        // then
        load.assertAllDelivered(cluster.clientConfig());
        leaks.assertNothingLeft();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldDeliverEachRecordOnceAndInOrderWhenPartitionsMove(ProducerKind kind) throws Exception {
        // given
        String topic = topic("moving", kind, Map.of());
        Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig());
        LeakOracle leaks = LeakOracle.of(producer);
        StampedLoad load = new StampedLoad(producer, topic, PARTITIONS);
        load.start(THREADS);

        // when the leader moves, and then leaves: other replicas first, then two replicas only
        for (List<Integer> replicas : List.of(List.of(2, 3, 1), List.of(3, 1, 2), List.of(1, 2), List.of(2, 3))) {
            load.awaitMore(500);
            TopicPartition partition = new TopicPartition(topic, 0);
            cluster.admin()
                    .alterPartitionReassignments(Map.of(partition, Optional.of(new NewPartitionReassignment(replicas))))
                    .all()
                    .get();
            Await.until("the partition has moved to " + replicas, PATIENCE, () -> hasMoved(partition));
            Await.until(replicas.get(0) + " leads", PATIENCE, () -> {
                var elected = cluster.admin()
                        .electLeaders(ElectionType.PREFERRED, Set.of(partition))
                        .partitions();
                return get(elected).size() == 1 && cluster.leader(topic, 0) == replicas.get(0);
            });
        }
        load.awaitMore(500);
        load.stop();
        producer.close();

        // then
        load.assertAllDelivered(cluster.clientConfig());
        leaks.assertNothingLeft();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldRetryUntilThereAreEnoughReplicas(ProducerKind kind) throws Exception {
        // given
        String topic = topic("insync", kind, Map.of("min.insync.replicas", "3"));
        Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig());
        LeakOracle leaks = LeakOracle.of(producer);
        StampedLoad load = new StampedLoad(producer, topic, PARTITIONS);

        // when
        cluster.stop(3);
        List<Future<RecordMetadata>> futures = load.send(100, 100);
        Await.until("the producer tries again", PATIENCE, () -> retries(producer) > 0);
        assertThat(futures.get(0)).isNotDone();
        cluster.restart(3);
        producer.close();

        // then
        load.assertAllDelivered(cluster.clientConfig());
        leaks.assertNothingLeft();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldEndEveryRecordAndGoOnWhenATopicIsDeletedAndCreatedAgain(ProducerKind kind) throws Exception {
        // given
        String topic = topic("deleted", kind, Map.of());
        String other = topic("undisturbed", kind, Map.of());
        Producer<byte[], byte[]> producer = kind.create(
                cluster.clientConfig(), "request.timeout.ms", 2000, "delivery.timeout.ms", 5000, "max.block.ms", 5000);
        LeakOracle leaks = LeakOracle.of(producer);
        StampedLoad undisturbed = new StampedLoad(producer, other, PARTITIONS);
        producer.send(recordOfAnotherRun(topic)).get();

        // when
        cluster.admin().deleteTopics(List.of(topic)).all().get();
        Await.until("the topic is gone", PATIENCE, () -> cluster.leader(topic, 0) < 0);
        undisturbed.send(300, 100);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Await.until("its leader has heard of it", PATIENCE, () -> {
            failure.set(failureOf(producer.send(recordOfAnotherRun(topic))));
            return failure.get() != null;
        });

        // then
        assertThat(failure.get()).isInstanceOfAny(TimeoutException.class, UnknownTopicOrPartitionException.class);

        // and when it is there again
        cluster.createTopic(topic, PARTITIONS, 3, Map.of());
        Await.until(
                "a record is acknowledged",
                PATIENCE,
                () -> failureOf(producer.send(recordOfAnotherRun(topic))) == null);
        StampedLoad again = new StampedLoad(producer, topic, PARTITIONS);
        again.send(300, 100);
        producer.close();
        undisturbed.assertAllDelivered(cluster.clientConfig());
        again.assertAllDelivered(cluster.clientConfig());
        leaks.assertNothingLeft();
    }

    /** A record that the judges of the load pass over. */
    private static ProducerRecord<byte[], byte[]> recordOfAnotherRun(String topic) {
        return new ProducerRecord<>(topic, 0, null, new Stamp(2, 0, topic, 0, 0).encode(100));
    }

    private static Throwable failureOf(Future<RecordMetadata> future) {
        try {
            future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            return null;
        } catch (ExecutionException e) {
            return e.getCause();
        } catch (InterruptedException | java.util.concurrent.TimeoutException e) {
            throw new IllegalStateException("The record has no outcome", e);
        }
    }

    private static double retries(Producer<?, ?> producer) {
        return producer.metrics().values().stream()
                .filter(metric -> metric.metricName().name().equals("record-retry-total")
                        && metric.metricName().group().equals("producer-metrics"))
                .mapToDouble(metric -> (double) metric.metricValue())
                .sum();
    }

    private static boolean hasMoved(TopicPartition partition) {
        return get(cluster.admin().listPartitionReassignments(Set.of(partition)).reassignments())
                .isEmpty();
    }

    private static void awaitFullIsr(String topic) {
        Await.until(
                "all replicas are in sync",
                PATIENCE,
                () ->
                        get(cluster.admin().describeTopics(List.of(topic)).allTopicNames())
                                .get(topic)
                                .partitions()
                                .stream()
                                .allMatch(partition -> partition.isr().size()
                                        == partition.replicas().size()));
    }

    private static <T> T get(Future<T> future) {
        try {
            return future.get();
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String topic(String name, ProducerKind kind, Map<String, String> configs) {
        String topic = (name + "-" + kind).toLowerCase(Locale.ROOT);
        cluster.createTopic(topic, PARTITIONS, 3, configs);
        return topic;
    }
}
