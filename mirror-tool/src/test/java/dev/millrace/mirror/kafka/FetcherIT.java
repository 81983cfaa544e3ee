package dev.millrace.mirror.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.fetch.FetchSettings;
import dev.millrace.mirror.fetch.Fetcher;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.management.JMException;
import javax.management.ObjectName;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A fetcher and a cluster of three brokers. */
@Tag("thorough")
class FetcherIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int MB = 1 << 20;

    @AutoClose
    private static final KafkaCluster cluster = KafkaCluster.builder()
            .brokers(3)
            .setting("auto.create.topics.enable", "true")
            .setting("replica.selector.class", "org.apache.kafka.common.replica.RackAwareReplicaSelector")
            .start();

    private final long seed = Long.getLong("millrace.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private CollectedBatches collected = new CollectedBatches(partition -> false);
    private Fetcher fetcher;

    @AfterEach
    void closeFetcher() {
        if (fetcher != null) {
            fetcher.close();
        }
    }

    @Test
    void shouldFetchEveryBatchOnceWhileLeadersMoveAndABrokerIsKilled() throws Exception {
        List<TopicPartition> partitions = create("moves-a", 6, 3, Map.of("compression.type", "lz4"));
        partitions.addAll(create("moves-b", 5, 3, Map.of()));
        partitions.addAll(create("moves-c", 1, 3, Map.of()));
        start(Map.of("auto.offset.reset", "none"), UnaryOperator.identity());
        assign(partitions, 0);
        AtomicBoolean stopped = new AtomicBoolean();
        List<Throwable> sendFailures = new ArrayList<>();
        Thread load = new Thread(() -> {
            try {
                for (int i = 0; !stopped.get(); i++) {
                    send(partitions, 500, 100, i % 2 == 0 ? "snappy" : "none");
                }
            } catch (RuntimeException e) {
                sendFailures.add(e);
            }
        });
        load.start();
        await("the first records", () -> collected.records() > 1_000);

        cluster.stop(2);
        awaitMore();
        cluster.restart(2);
        awaitMore();
        cluster.kill(3);
        awaitMore();
        cluster.restart(3);
        awaitMore();
        stopped.set(true);
        load.join();

        awaitEnds(partitions);
        assertThat(sendFailures).isEmpty();
        assertThat(collected.errors()).as("seed %d", seed).isEmpty();
        assertThat(collected.resets()).isEmpty();
        assertThat(collected.failures()).allMatch(UnknownTopicOrPartitionException.class::isInstance);
    }

    @Test
    void shouldTellOfTheRecordsThatWereDeletedBeforeItCouldFetchThem() {
        List<TopicPartition> partitions = create("deleted", 2, 3, Map.of());
        send(partitions, 100, 100, "none");
        get(cluster.admin()
                .deleteRecords(Map.of(partitions.get(0), RecordsToDelete.beforeOffset(30)))
                .all());
        start(Map.of("auto.offset.reset", "earliest"), UnaryOperator.identity());

        assign(partitions, 0);

        awaitEnds(partitions);
        assertThat(collected.resets()).hasSize(1);
        assertThat(collected.resets().get(0)).startsWith("deleted-0 0 30 ");
    }

    @Test
    void shouldFetchTheOthersAndKeepItsBoundWhenNobodyReleasesOnePartition() {
        List<TopicPartition> partitions = create("slow", 4, 1, Map.of());
        for (int i = 0; i < 8; i++) {
            send(partitions, 4_000, 1_000, "none");
        }
        TopicPartition slow = partitions.get(1);
        long memory = 4L * MB;
        collected = new CollectedBatches(slow::equals);
        start(
                Map.of("max.partition.fetch.bytes", 256 << 10, "auto.offset.reset", "none"),
                settings -> new FetchSettings(
                        settings.request(),
                        settings.cold(),
                        settings.metadata(),
                        settings.resetPolicy(),
                        settings.retryBackoff(),
                        memory));

        assign(partitions, 0);

        List<TopicPartition> others =
                partitions.stream().filter(p -> !p.equals(slow)).toList();
        awaitEnds(others);
        assertThat(collected.keptBytes()).isPositive().isLessThan(memory);
        assertThat(collected.end(slow)).isLessThan(end(slow));

        await("the slow one, too", () -> {
            collected.releaseKept();
            return collected.end(slow) == end(slow);
        });
        assertThat(collected.errors()).isEmpty();
    }

    @Test
    void shouldFetchWhatComesToPartitionsThatWereColdForLong() {
        List<TopicPartition> partitions = create("cold", 40, 1, Map.of());
        start(
                Map.of("auto.offset.reset", "none"),
                settings -> new FetchSettings(
                        settings.request(),
                        new FetchSettings.Cold(200, 4, 5_000),
                        settings.metadata(),
                        settings.resetPolicy(),
                        settings.retryBackoff(),
                        settings.memoryBytes()));
        assign(partitions, 0);
        TopicPartition hot = partitions.get(7);
        for (int i = 0; i < 40; i++) { // each takes some milliseconds, so the others become cold meanwhile
            send(List.of(hot), 5, 100, "none");
            awaitEnds(List.of(hot));
            send(List.of(partitions.get(random.nextInt(40))), 5, 100, "none");
        }

        awaitEnds(partitions);
        assertThat(collected.errors()).as("seed %d", seed).isEmpty();
        assertThat(collected.failures()).isEmpty();
    }

    @Test
    void shouldTellOfAbortedTransactionsWhenItReadsOnlyCommittedOnes() {
        List<TopicPartition> partitions = create("aborted", 1, 3, Map.of());
        Map<String, Object> config = cluster.clientConfig();
        config.put("transactional.id", "aborted");
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.initTransactions();
            for (int i = 0; i < 2; i++) {
                producer.beginTransaction();
                producer.send(new ProducerRecord<>("aborted", 0, null, new byte[10]));
                producer.flush();
                if (i == 0) {
                    producer.abortTransaction();
                } else {
                    producer.commitTransaction();
                }
            }
        }
        start(Map.of("isolation.level", "read_committed", "auto.offset.reset", "none"), UnaryOperator.identity());

        assign(partitions, 0);

        awaitEnds(partitions);
        assertThat(collected.aborted()).hasSize(1);
        assertThat(collected.aborted().get(0).firstOffset()).isZero();
    }

    @Test
    void shouldDeliverNothingOfAPartitionAfterItIsUnassigned() {
        List<TopicPartition> partitions = create("unassigned", 2, 1, Map.of());
        start(Map.of("auto.offset.reset", "none"), UnaryOperator.identity());
        assign(partitions, 0);
        send(partitions, 1_000, 100, "none");
        await("something", () -> collected.end(partitions.get(0)) > 0);

        fetcher.unassign(List.of(partitions.get(0)));
        long end = collected.end(partitions.get(0));
        send(partitions, 1_000, 100, "none");
        awaitEnds(List.of(partitions.get(1)));

        assertThat(collected.end(partitions.get(0))).isEqualTo(end);
        fetcher.assign(partitions.get(0), end, Optional.empty());
        awaitEnds(partitions);
        assertThat(collected.errors()).isEmpty();
        assertThat(fetcher.end(partitions.get(0))).hasValue(end(partitions.get(0)));
    }

    @Test
    void shouldTellThatATopicIsGoneAndNotCreateIt() {
        List<TopicPartition> partitions = create("gone", 1, 1, Map.of());
        start(Map.of("auto.offset.reset", "none"), UnaryOperator.identity());
        assign(partitions, 0);
        send(partitions, 10, 100, "none");
        awaitEnds(partitions);

        get(cluster.admin().deleteTopics(List.of("gone")).all());

        await("it is told", () -> !collected.failures().isEmpty());
        assertThat(collected.failures().get(0)).isInstanceOf(UnknownTopicOrPartitionException.class);
        List<TopicPartition> others = create("not-gone", 1, 1, Map.of());
        assign(others, 0); // asks for the metadata of both topics
        send(others, 10, 100, "none");
        awaitEnds(others);
        assertThat(get(cluster.admin().listTopics().names())).doesNotContain("gone");
    }

    /** KIP-392. */
    @Test
    void shouldFetchFromTheFollowerInItsRackAndFromTheLeaderWhenThatStops() throws Exception {
        cluster.createTopic("near", Map.of(0, List.of(1, 3)), Map.of());
        List<TopicPartition> partitions = List.of(new TopicPartition("near", 0));
        start(Map.of("client.rack", cluster.rack(3), "auto.offset.reset", "none"), UnaryOperator.identity());
        assign(partitions, 0);
        int bytes = 0;
        for (int i = 0; i < 20; i++) {
            send(partitions, 100, 1_000, "none");
            bytes += 100 * 1_000;
            awaitEnds(partitions);
        }

        assertThat(receivedFrom(3)).isGreaterThan(0.9 * bytes);
        assertThat(receivedFrom(1)).isLessThan(0.1 * bytes);
        cluster.stop(3);
        send(partitions, 100, 1_000, "none");
        awaitEnds(partitions);
        cluster.restart(3);
        assertThat(collected.errors()).isEmpty();
        assertThat(collected.resets()).isEmpty();
    }

    private static double receivedFrom(int broker) throws JMException {
        ObjectName node =
                new ObjectName("kafka.consumer:type=consumer-node-metrics,client-id=fetcher,node-id=node-" + broker);
        return (double) ManagementFactory.getPlatformMBeanServer().getAttribute(node, "incoming-byte-total");
    }

    private static List<TopicPartition> create(String topic, int partitions, int replicas, Map<String, String> config) {
        cluster.createTopic(topic, partitions, replicas, config);
        return IntStream.range(0, partitions)
                .mapToObj(p -> new TopicPartition(topic, p))
                .collect(Collectors.toCollection(ArrayList::new));
    }

    private void start(Map<String, Object> config, UnaryOperator<FetchSettings> change) {
        Map<String, Object> all = cluster.clientConfig();
        all.put("client.id", "fetcher");
        all.putAll(config);
        fetcher = SourceFetchers.create(all, collected, change);
        fetcher.start();
    }

    private void assign(List<TopicPartition> partitions, long offset) {
        partitions.forEach(partition -> fetcher.assign(partition, offset, Optional.empty()));
    }

    private static void send(List<TopicPartition> partitions, int records, int size, String codec) {
        Map<String, Object> config = cluster.clientConfig();
        config.put("compression.type", codec);
        config.put("acks", "all");
        config.put("enable.idempotence", false); // with it, the stock producer may not recover from a move of a leader
        List<Future<?>> results = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (int i = 0; i < records; i++) {
                TopicPartition to = partitions.get(i % partitions.size());
                results.add(producer.send(new ProducerRecord<>(to.topic(), to.partition(), null, new byte[size])));
            }
        }
        results.forEach(FetcherIT::get);
    }

    private void awaitMore() {
        long before = collected.records();
        await("more records", () -> collected.records() > before + 2_000);
    }

    private void awaitEnds(List<TopicPartition> partitions) {
        for (TopicPartition partition : partitions) {
            long end = end(partition);
            // Beyond it if the end of a transaction has been written meanwhile.
            await(partition + " is fetched up to " + end, () -> collected.end(partition) >= end);
        }
    }

    private void await(String what, BooleanSupplier condition) {
        try {
            Await.until(what, PATIENCE, condition);
        } catch (IllegalStateException e) {
            throw new AssertionError(
                    e.getMessage() + "; " + collected.failures() + " " + collected.errors() + " " + collected.resets(),
                    e);
        }
    }

    private static long end(TopicPartition partition) {
        return get(cluster.admin()
                        .listOffsets(Map.of(partition, OffsetSpec.latest()))
                        .all())
                .get(partition)
                .offset();
    }

    private static <T> T get(Future<T> future) {
        try {
            return future.get();
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }
}
