package dev.millrace.client.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.support.Deadlines;
import dev.millrace.client.support.Leaders;
import dev.millrace.client.support.LeakOracle;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.StampedLoad;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.oracle.DeliveryOracle;
import dev.millrace.testkit.oracle.Stamp;
import dev.millrace.testkit.oracle.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Operators change a cluster while records flow, and the records do not show it. */
@Tag("thorough")
class ClusterFaultsIT {
    private static final int PARTITIONS = 4;
    private static final int THREADS = 4;

    /** For what brokers do among themselves; no limit for producers. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Object[] SETTINGS = {"request.timeout.ms", 3_000};
    private static final Duration RECOVERY = Deadlines.recovery(SETTINGS);

    @AutoClose
    private static final KafkaCluster cluster = KafkaCluster.builder()
            .brokers(3)
            // Otherwise producers, which go on asking for a topic that a test deletes, create it again.
            .setting("auto.create.topics.enable", "false")
            .start();

    @Test
    void shouldDeliverEachRecordOnceAndInOrderWhenBrokersAreRestartedInTurn() throws Exception {
        // given
        String topic = topic("rolling", ProducerKind.MILLRACE, Map.of("min.insync.replicas", "2"));
        Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(cluster.clientConfig(), SETTINGS);
        LeakOracle leaks = LeakOracle.of(producer);
        StampedLoad load = new StampedLoad(producer, topic, PARTITIONS);
        load.start(THREADS);

        // when
        for (int broker = 1; broker <= cluster.brokers(); broker++) {
            load.awaitMore(1000, RECOVERY);
            cluster.stop(broker);
            load.awaitMore(1000, RECOVERY);
            cluster.restart(broker);
            awaitFullIsr(topic);
        }
        load.awaitMore(1000, RECOVERY);
        load.stop();
        producer.close(RECOVERY);

        // then
        load.assertAllDelivered(cluster.clientConfig());
        leaks.assertNothingLeft();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldDeliverEachRecordOnceAndInOrderWhenPartitionsMove(ProducerKind kind) throws Exception {
        // given
        String topic = topic("moving", kind, Map.of());
        Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), SETTINGS);
        LeakOracle leaks = LeakOracle.of(producer);
        StampedLoad load = new StampedLoad(producer, topic, PARTITIONS);
        load.start(THREADS);

        // when the leader moves, and then leaves the replicas: first another order of three, then two only
        for (List<Integer> replicas : List.of(List.of(2, 3, 1), List.of(3, 1, 2), List.of(1, 2), List.of(2, 3))) {
            load.awaitMore(500, RECOVERY);
            Leaders.move(cluster, topic, 0, replicas);
        }
        load.awaitMore(500, RECOVERY);
        load.stop();
        producer.close(RECOVERY);

        // then
        load.assertAllDelivered(cluster.clientConfig());
        leaks.assertNothingLeft();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldRetryUntilThereAreEnoughReplicas(ProducerKind kind) throws Exception {
        // given
        String topic = topic("insync", kind, Map.of("min.insync.replicas", "3"));
        Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), SETTINGS);
        LeakOracle leaks = LeakOracle.of(producer);
        StampedLoad load = new StampedLoad(producer, topic, PARTITIONS);

        // when
        cluster.stop(3);
        List<Future<RecordMetadata>> futures = load.send(100, 100);
        Await.until("the producer tries again", PATIENCE, () -> retries(producer) > 0);
        assertThat(futures.get(0)).isNotDone();
        cluster.restart(3);
        awaitFullIsr(topic);
        producer.close(RECOVERY);

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
        Object[] settings = {"request.timeout.ms", 2000, "delivery.timeout.ms", 5000, "max.block.ms", 5000};
        Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), settings);
        LeakOracle leaks = LeakOracle.of(producer);
        StampedLoad undisturbed = new StampedLoad(producer, other, PARTITIONS);
        Probes before = new Probes(2, producer, topic);
        assertThat(before.failureOfNext(Deadlines.outcome(settings))).isNull();
        Map<Integer, List<Integer>> elsewhere = IntStream.range(0, PARTITIONS)
                .boxed()
                .collect(Collectors.toMap(p -> p, p -> Leaders.others(cluster, topic, p)));

        // when
        cluster.admin().deleteTopics(List.of(topic)).all().get();
        Await.until("the topic is gone", PATIENCE, () -> cluster.leader(topic, 0) < 0);
        undisturbed.send(300, 100);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Await.until("its leader has heard of it", PATIENCE, () -> {
            failure.set(before.failureOfNext(Deadlines.outcome(settings)));
            return failure.get() != null;
        });

        // then
        assertThat(failure.get()).isInstanceOfAny(TimeoutException.class, UnknownTopicOrPartitionException.class);

        // and when it has come back, with other leaders
        cluster.createTopic(topic, elsewhere, Map.of());
        Probes after = new Probes(3, producer, topic);
        Await.until(
                "a record is acknowledged",
                Deadlines.recovery(settings),
                () -> after.failureOfNext(Deadlines.outcome(settings)) == null);
        StampedLoad again = new StampedLoad(producer, topic, PARTITIONS);
        again.send(300, 100);
        producer.close(RECOVERY);
        undisturbed.assertAllDelivered(cluster.clientConfig());
        again.assertAllDelivered(cluster.clientConfig());
        Verdict verdict = after.verdict();
        assertThat(verdict.isClean()).as(verdict.toString()).isTrue();
        Verdict ofBefore = before.verdict();
        assertThat(ofBefore.lost())
                .as("what the first topic acknowledged is gone with it: %s", ofBefore)
                .isEqualTo(ofBefore.acknowledged());
        assertThat(ofBefore.doubled() + ofBefore.reordered() + ofBefore.misrouted() + ofBefore.corrupt())
                .as("of those that failed, some may be there: %s", ofBefore)
                .isZero();
        leaks.assertNothingLeft();
    }

    /** Records to one partition, one at a time, with an oracle of their own: that of a load ignores other runs. */
    private static final class Probes {
        private final int run;
        private final Producer<byte[], byte[]> producer;
        private final String topic;
        private final DeliveryOracle oracle;
        private int sent;

        Probes(int run, Producer<byte[], byte[]> producer, String topic) {
            this.run = run;
            this.producer = producer;
            this.topic = topic;
            oracle = new DeliveryOracle(run);
        }

        /** Sends the next record, and returns why it fails; null if it is acknowledged. */
        Throwable failureOfNext(Duration within) {
            Stamp stamp = new Stamp(run, 0, topic, 0, sent++);
            Throwable failure =
                    failureOf(producer.send(new ProducerRecord<>(topic, 0, null, stamp.encode(100))), within);
            if (failure == null) {
                oracle.onAcknowledged(stamp);
            }
            return failure;
        }

        Verdict verdict() {
            return oracle.judge(cluster.clientConfig(), List.of(topic));
        }
    }

    private static Throwable failureOf(Future<RecordMetadata> future, Duration within) {
        try {
            future.get(within.toMillis(), TimeUnit.MILLISECONDS);
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
        kind.createTopic(cluster, topic, PARTITIONS, 3, configs);
        return topic;
    }
}
