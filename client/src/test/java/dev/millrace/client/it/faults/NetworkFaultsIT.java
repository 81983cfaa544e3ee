package dev.millrace.client.it.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.support.BlockedCall;
import dev.millrace.client.support.Deadlines;
import dev.millrace.client.support.Leaders;
import dev.millrace.client.support.LeakOracle;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.StampedLoad;
import dev.millrace.client.support.Tries;
import dev.millrace.kafka.common.protocol.ApiKeys;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.proxy.FaultProxy;
import dev.millrace.testkit.proxy.FaultProxy.Fault;
import dev.millrace.testkit.proxy.FaultProxy.Flow;
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
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Network faults must neither lose, double nor reorder records. */
@Tag("thorough")
class NetworkFaultsIT {
    private static final int PARTITIONS = 3;
    private static final Object[] QUICK = {"request.timeout.ms", 600};
    private static final Duration RECOVERY = Deadlines.recovery(QUICK);

    @AutoClose
    private static KafkaCluster cluster;

    private static List<FaultProxy> proxies;

    @BeforeAll
    static void start() {
        cluster = KafkaCluster.builder().brokers(3).listeners(Listener.PROXIED).start();
        proxies = IntStream.rangeClosed(1, 3).mapToObj(cluster::proxy).toList();
    }

    @AfterEach
    void heal() {
        flow(Flow.BOTH);
        proxies.forEach(proxy -> proxy.limitBytesPerSecond(Long.MAX_VALUE));
        proxies.forEach(FaultProxy::accept);
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
        Object[] settings = {"batch.size", 1000, "linger.ms", 0, "request.timeout.ms", 3_000};
        Producer<byte[], byte[]> producer = create(kind, settings);
        LeakOracle leaks = LeakOracle.of(producer);
        StampedLoad load = new StampedLoad(producer, topic, PARTITIONS);

        // when
        for (int i = 0; i < 5; i++) {
            CompletableFuture<Void> failed = proxies.get(i % 3).failNext(ApiKeys.PRODUCE, fault);
            List<Future<RecordMetadata>> futures = load.send(300, 100);
            failed.get(RECOVERY.toMillis(), TimeUnit.MILLISECONDS);
            awaitAcknowledged(futures, Deadlines.recovery(settings));
        }
        producer.close(Deadlines.recovery(settings));

        // then
        load.assertAllDelivered(cluster.clientConfig());
        leaks.assertNothingLeft();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldWriteOnceWhenOnlyTheAnswersAreMissing(ProducerKind kind) throws Exception {
        // given
        String topic = topic("unanswered", kind);
        Producer<byte[], byte[]> producer = create(kind, QUICK);
        LeakOracle leaks = LeakOracle.of(producer);
        StampedLoad load = new StampedLoad(producer, topic, PARTITIONS);
        load.connect();
        int accepted = accepted();

        // when the request has timed out, and another connection is made
        flow(Flow.REQUESTS_ONLY);
        List<Future<RecordMetadata>> futures = load.send(300, 100);
        Await.until("the producer reconnects", RECOVERY, () -> accepted() > accepted);
        moveLeaders(topic);
        flow(Flow.BOTH);
        awaitAcknowledged(futures, RECOVERY);
        producer.close(RECOVERY);

        // then
        load.assertAllDelivered(cluster.clientConfig());
        leaks.assertNothingLeft();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldReconnectWhenTheOtherSideIsGoneWithoutAWord(ProducerKind kind) throws Exception {
        String topic = topic("half-open", kind);
        Producer<byte[], byte[]> producer = create(kind, QUICK);
        LeakOracle leaks = LeakOracle.of(producer);
        StampedLoad load = new StampedLoad(producer, topic, PARTITIONS);
        load.connect();

        proxies.forEach(FaultProxy::makeAllHalfOpen);
        List<Future<RecordMetadata>> futures = load.send(300, 100);
        awaitAcknowledged(futures, RECOVERY);
        producer.close(RECOVERY);

        load.assertAllDelivered(cluster.clientConfig());
        leaks.assertNothingLeft();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldWriteOnceWhenTheLinkIsTooSlowForARequest(ProducerKind kind) throws Exception {
        // given
        String topic = topic("slow", kind);
        Producer<byte[], byte[]> producer = create(kind, QUICK);
        LeakOracle leaks = LeakOracle.of(producer);
        StampedLoad load = new StampedLoad(producer, topic, PARTITIONS);
        load.connect();
        int accepted = accepted();

        // when
        proxies.forEach(proxy -> proxy.limitBytesPerSecond(20_000));
        List<Future<RecordMetadata>> futures = load.send(3, 15_000);
        Await.until("the producer reconnects", RECOVERY, () -> accepted() > accepted);
        proxies.forEach(proxy -> proxy.limitBytesPerSecond(Long.MAX_VALUE));
        awaitAcknowledged(futures, RECOVERY);
        producer.close(RECOVERY);

        // then
        load.assertAllDelivered(cluster.clientConfig());
        leaks.assertNothingLeft();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFillMemoryThenFailAndThenGoOnWhenNothingPasses(ProducerKind kind) throws Exception {
        // given memory for three batches
        String topic = topic("black-hole", kind);
        Object[] settings = {
            "buffer.memory",
            60_000L,
            "batch.size",
            20_000,
            "max.block.ms",
            300,
            "request.timeout.ms",
            500,
            "delivery.timeout.ms",
            5000
        };
        Producer<byte[], byte[]> producer = create(kind, settings);
        LeakOracle leaks = LeakOracle.of(producer);
        Tries.untilKnown(producer, topic);
        StampedLoad load = new StampedLoad(producer, topic, PARTITIONS);

        // when
        flow(Flow.NOTHING);
        List<Future<RecordMetadata>> futures = load.send(6, 15_000);

        // then records without memory have failed already, and those with memory fail when their time is up
        assertThat(futures.get(5)).isDone();
        for (Future<RecordMetadata> future : futures) {
            assertThatThrownBy(() -> get(future, Deadlines.outcome(settings)))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(TimeoutException.class);
        }

        // and when the network is back, and every partition has another leader
        moveLeaders(topic);
        flow(Flow.BOTH);
        Await.until(
                "a record of every partition is acknowledged",
                Deadlines.recovery(settings),
                () -> load.send(PARTITIONS, 100).stream().allMatch(Tries::isAcknowledged));
        leaks.awaitFreeMemory();
        producer.close(Deadlines.recovery(settings));
        load.assertDelivered(cluster.clientConfig());
        leaks.assertNothingLeft();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldGoOnAtTheNewLeadersWhenOneBrokerCannotBeReached(ProducerKind kind) throws Exception {
        // given
        String topic = topic("cut-off", kind);
        Producer<byte[], byte[]> producer = create(kind, QUICK);
        LeakOracle leaks = LeakOracle.of(producer);
        StampedLoad load = new StampedLoad(producer, topic, PARTITIONS);
        load.connect();

        // when the other brokers go on undisturbed
        int unreachable = cluster.leader(topic, 0);
        proxies.get(unreachable - 1).setFlow(Flow.NOTHING);
        List<Future<RecordMetadata>> futures = load.send(300, 100);
        for (int p = 0; p < PARTITIONS; p++) {
            if (cluster.leader(topic, p) == unreachable) {
                Leaders.move(cluster, topic, p, Leaders.others(cluster, topic, p));
            }
        }

        // then
        awaitAcknowledged(futures, RECOVERY);
        producer.close(RECOVERY);
        load.assertAllDelivered(cluster.clientConfig());
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

    /** KAFKA-1642. The bound detects spinning. On a busy machine a thread gets less CPU, never more. */
    @ParameterizedTest
    @MethodSource("outages")
    void shouldHardlyUseTheCpuWhileTheNetworkIsGone(ProducerKind kind, Outage outage) throws Exception {
        // given a record in flight, and a thread that waits for memory
        String topic = topic("gone-" + outage, kind);
        String clientId = topic;
        Producer<byte[], byte[]> producer = create(
                kind,
                "client.id",
                clientId,
                "buffer.memory",
                60_000L,
                "batch.size",
                20_000,
                "request.timeout.ms",
                3_000);
        LeakOracle leaks = LeakOracle.of(producer);
        StampedLoad load = new StampedLoad(producer, topic, PARTITIONS);
        load.connect();
        switch (outage) {
            case REFUSED -> {
                proxies.forEach(FaultProxy::refuse);
                proxies.forEach(FaultProxy::resetAll);
            }
            case BLACK_HOLE -> flow(Flow.NOTHING);
            case HALF_OPEN -> proxies.forEach(FaultProxy::makeAllHalfOpen);
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
        proxies.forEach(FaultProxy::resetAll);
        assertThat(blocked.thrown()).isNull();
        producer.close(Deadlines.recovery("request.timeout.ms", 3_000));
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

    private static void flow(Flow flow) {
        proxies.forEach(proxy -> proxy.setFlow(flow));
    }

    private static int accepted() {
        return proxies.stream().mapToInt(FaultProxy::accepted).sum();
    }

    private static void moveLeaders(String topic) {
        for (int p = 0; p < PARTITIONS; p++) {
            Leaders.move(cluster, topic, p, Leaders.others(cluster, topic, p));
        }
    }

    private static void awaitAcknowledged(List<Future<RecordMetadata>> futures, Duration within) throws Exception {
        long endNs = System.nanoTime() + within.toNanos();
        for (Future<RecordMetadata> future : futures) {
            get(future, Duration.ofNanos(Math.max(0, endNs - System.nanoTime())));
        }
    }

    private static RecordMetadata get(Future<RecordMetadata> future, Duration within) throws Exception {
        return future.get(within.toMillis(), TimeUnit.MILLISECONDS);
    }

    private static Producer<byte[], byte[]> create(ProducerKind kind, Object... more) {
        return kind.create(cluster.clientConfig(Listener.PROXIED), more);
    }

    private static String topic(String name, ProducerKind kind) {
        String topic = (name + "-" + kind).toLowerCase(Locale.ROOT);
        cluster.createTopic(
                topic,
                Map.of(0, Leaders.from(1), 1, Leaders.from(2), 2, Leaders.from(3)),
                Map.of()); // each broker leads one
        return topic;
    }
}
