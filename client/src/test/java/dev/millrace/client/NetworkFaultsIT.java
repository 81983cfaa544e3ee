package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.FaultProxy;
import dev.millrace.testkit.FaultProxy.Fault;
import dev.millrace.testkit.FaultProxy.Flow;
import dev.millrace.testkit.KafkaCluster;
import dev.millrace.testkit.Listener;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.protocol.ApiKeys;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What the network does to connections, and what must not become of records. */
class NetworkFaultsIT {
    private static final int PARTITIONS = 3;
    private static final long PATIENCE_S = 60;

    private static KafkaCluster cluster;
    private static FaultProxy proxy;

    @BeforeAll
    static void start() {
        cluster = KafkaCluster.builder().listeners(Listener.PROXIED).start();
        proxy = cluster.proxy(1);
    }

    @AfterAll
    static void stop() {
        cluster.close();
    }

    @AfterEach
    void heal() {
        proxy.flow(Flow.BOTH);
        proxy.bytesPerSecond(Long.MAX_VALUE);
        proxy.accept();
    }

    static Stream<Arguments> brokenConnections() {
        return Stream.of(ProducerKind.values())
                .flatMap(kind -> Stream.of(Fault.values()).map(fault -> Arguments.of(kind, fault)));
    }

    @ParameterizedTest
    @MethodSource("brokenConnections")
    void shouldWriteOnceAndInOrderWhenConnectionsBreak(ProducerKind kind, Fault fault) throws Exception {
        // given small batches, so that several requests are in flight
        String topic = topic("broken-" + fault, kind);
        Producer<byte[], byte[]> producer = create(kind, "batch.size", 1000, "linger.ms", 0);
        LeakOracle leaks = LeakOracle.of(producer);
        StampedLoad load = new StampedLoad(producer, topic, PARTITIONS);

        // when
        for (int i = 0; i < 5; i++) {
            CompletableFuture<Void> struck = proxy.atNext(ApiKeys.PRODUCE, fault);
            load.send(300, 100);
            struck.get(PATIENCE_S, TimeUnit.SECONDS);
        }
        producer.close();

        // then
        load.assertAllDelivered(cluster.clientConfig());
        leaks.assertNothingLeft();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldWriteOnceWhenOnlyTheAnswersAreMissing(ProducerKind kind) throws Exception {
        // given
        String topic = topic("unanswered", kind);
        Producer<byte[], byte[]> producer = create(kind, "request.timeout.ms", 600);
        LeakOracle leaks = LeakOracle.of(producer);
        StampedLoad load = new StampedLoad(producer, topic, PARTITIONS);
        int accepted = proxy.accepted();

        // when the request has timed out, and another connection is made
        proxy.flow(Flow.REQUESTS_ONLY);
        load.send(300, 100);
        Await.until("the producer reconnects", Duration.ofSeconds(PATIENCE_S), () -> proxy.accepted() > accepted);
        proxy.flow(Flow.BOTH);
        producer.close();

        // then
        load.assertAllDelivered(cluster.clientConfig());
        leaks.assertNothingLeft();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldReconnectWhenTheOtherSideIsGoneWithoutAWord(ProducerKind kind) throws Exception {
        String topic = topic("half-open", kind);
        Producer<byte[], byte[]> producer = create(kind, "request.timeout.ms", 600);
        LeakOracle leaks = LeakOracle.of(producer);
        StampedLoad load = new StampedLoad(producer, topic, PARTITIONS);

        proxy.halfOpenAll();
        load.send(300, 100);
        producer.close();

        load.assertAllDelivered(cluster.clientConfig());
        leaks.assertNothingLeft();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldWriteOnceWhenTheLinkIsTooSlowForARequest(ProducerKind kind) throws Exception {
        // given
        String topic = topic("slow", kind);
        Producer<byte[], byte[]> producer = create(kind, "request.timeout.ms", 600);
        LeakOracle leaks = LeakOracle.of(producer);
        StampedLoad load = new StampedLoad(producer, topic, PARTITIONS);
        int accepted = proxy.accepted();

        // when
        proxy.bytesPerSecond(20_000);
        List<Future<RecordMetadata>> futures = load.send(3, 15_000);
        Await.until("the producer reconnects", Duration.ofSeconds(PATIENCE_S), () -> proxy.accepted() > accepted);
        proxy.bytesPerSecond(Long.MAX_VALUE);
        for (Future<RecordMetadata> future : futures) {
            future.get(PATIENCE_S, TimeUnit.SECONDS);
        }
        producer.close();

        // then
        load.assertAllDelivered(cluster.clientConfig());
        leaks.assertNothingLeft();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFillMemoryThenFailAndThenGoOnWhenNothingPasses(ProducerKind kind) throws Exception {
        // given memory for three batches
        String topic = topic("black-hole", kind);
        Producer<byte[], byte[]> producer = create(
                kind,
                "buffer.memory",
                60_000L,
                "batch.size",
                20_000,
                "max.block.ms",
                300,
                "request.timeout.ms",
                500,
                "delivery.timeout.ms",
                5000);
        LeakOracle leaks = LeakOracle.of(producer);
        Tries.untilKnown(producer, topic);
        StampedLoad load = new StampedLoad(producer, topic, PARTITIONS);

        // when
        proxy.flow(Flow.NOTHING);
        List<Future<RecordMetadata>> futures = load.send(6, 15_000);

        // then what found no memory has failed already, and what did fails when its time is up
        assertThat(futures.get(5)).isDone();
        for (Future<RecordMetadata> future : futures) {
            assertThatThrownBy(() -> future.get(PATIENCE_S, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(TimeoutException.class);
        }

        // and when the network is back
        proxy.flow(Flow.BOTH);
        leaks.awaitFreeMemory();
        Await.until(
                "a record of every partition is acknowledged",
                Duration.ofSeconds(PATIENCE_S),
                () -> load.send(PARTITIONS, 100).stream().allMatch(Tries::isAcknowledged));
        producer.close();
        load.assertDelivered(cluster.clientConfig());
        leaks.assertNothingLeft();
    }

    private enum Outage {
        REFUSED,
        BLACK_HOLE,
        HALF_OPEN
    }

    static Stream<Arguments> outages() {
        return Stream.of(ProducerKind.values())
                .flatMap(kind -> Stream.of(Outage.values()).map(outage -> Arguments.of(kind, outage)));
    }

    /** KAFKA-1642. A bound against spinning: on a busy machine a thread gets less CPU, never more. */
    @ParameterizedTest
    @MethodSource("outages")
    void shouldHardlyUseTheCpuWhileTheNetworkIsGone(ProducerKind kind, Outage outage) throws Exception {
        // given a record under way, and a thread that waits for memory
        String topic = topic("gone-" + outage, kind);
        String clientId = topic;
        Producer<byte[], byte[]> producer =
                create(kind, "client.id", clientId, "buffer.memory", 60_000L, "batch.size", 20_000);
        LeakOracle leaks = LeakOracle.of(producer);
        StampedLoad load = new StampedLoad(producer, topic, PARTITIONS);
        switch (outage) {
            case REFUSED -> {
                proxy.refuse();
                proxy.resetAll();
            }
            case BLACK_HOLE -> proxy.flow(Flow.NOTHING);
            case HALF_OPEN -> proxy.halfOpenAll();
        }
        load.send(3, 15_000);
        BlockedCall blocked = BlockedCall.of(() -> load.send(15_000));

        // when
        long wallNs = TimeUnit.MILLISECONDS.toNanos(1500);
        long cpuNs = cpuOfIoThread(clientId, wallNs);

        // then
        assertThat(cpuNs).as("CPU of the I/O thread in %d ns", wallNs).isLessThan(wallNs / 4);

        // and when the network is back
        heal();
        proxy.resetAll();
        assertThat(blocked.thrown()).isNull();
        producer.close();
        load.assertAllDelivered(cluster.clientConfig());
        leaks.assertNothingLeft();
    }

    private static long cpuOfIoThread(String clientId, long wallNs) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long id = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().endsWith("| " + clientId))
                .findFirst()
                .orElseThrow()
                .getId();
        long endNs = System.nanoTime() + wallNs;
        long before = threads.getThreadCpuTime(id);
        while (System.nanoTime() - endNs < 0) {
            LockSupport.parkNanos(endNs - System.nanoTime());
        }
        return threads.getThreadCpuTime(id) - before;
    }

    private static Producer<byte[], byte[]> create(ProducerKind kind, Object... more) {
        return kind.create(cluster.clientConfig(Listener.PROXIED), more);
    }

    private static String topic(String name, ProducerKind kind) {
        String topic = (name + "-" + kind).toLowerCase(Locale.ROOT);
        cluster.createTopic(topic, PARTITIONS, 1, Map.of());
        return topic;
    }
}
