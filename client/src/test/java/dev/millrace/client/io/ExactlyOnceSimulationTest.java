package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.BatchCodec;
import dev.millrace.client.accumulator.EncodableRecord;
import dev.millrace.client.accumulator.ReadyQueues;
import dev.millrace.client.accumulator.Seed;
import dev.millrace.client.delivery.DeliveryCallback;
import dev.millrace.client.delivery.DeliveryCertainty;
import dev.millrace.client.memory.BufferPool;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.StalledBrokers;
import dev.millrace.client.metadata.TopicRegistry;
import java.lang.reflect.Field;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.Test;

/**
 * Thousands of runs of the I/O thread's code against a simulated cluster whose connections break, whose leaders move
 * and whose replicas fail: what is acknowledged stands in the log once, in the order of sending, at the offset told.
 */
class ExactlyOnceSimulationTest {
    static final int PARTITIONS = 3;
    static final int RECORDS = 400;
    private static final int MAX_ROUNDS = 200_000;

    /** Bytes of a batch with the largest record, and of none with two of the larger ones. */
    static final int ROOM_FOR_ONE = 140;

    @Test
    void shouldWriteEveryRecordOnceAndInOrderWhenNothingExpires() throws Exception {
        long first = Seed.first();
        for (long seed = first; seed < first + 1500; seed++) {
            Run run = new Run(seed, 0.15, 1_000_000, true);

            run.play();

            for (int p = 0; p < PARTITIONS; p++) {
                assertThat(run.cluster.log(p))
                        .as("seed %d partition %d", seed, p)
                        .isEqualTo(run.sent.get(p));
            }
            assertThat(run.failed).as("seed %d", seed).isEmpty();
            run.assertOffsetsTold();
            run.assertCertain();
            run.assertMemoryReturned();
        }
    }

    @Test
    void shouldWriteWhatIsAcknowledgedOnceAndInOrderWhenRecordsExpire() throws Exception {
        long first = Seed.first();
        int expired = 0;
        for (long seed = first; seed < first + 1500; seed++) {
            Run run = new Run(seed, 0.3, 300, true);

            run.play();

            run.assertNothingDoubledAndInOrder();
            run.assertOffsetsTold();
            run.assertCertain();
            run.assertMemoryReturned();
            expired += run.failed.size();
        }
        assertThat(expired).as("records that expired").isPositive();
    }

    @Test
    void shouldSplitWhatIsTooLargeAndKeepOrderWhenNothingExpires() throws Exception {
        long first = Seed.first();
        for (long seed = first; seed < first + 800; seed++) {
            Run run = new Run(seed, 0.15, 1_000_000, true);
            run.cluster.maxMessageBytes(ROOM_FOR_ONE);

            run.play();

            for (int p = 0; p < PARTITIONS; p++) {
                assertThat(run.cluster.log(p))
                        .as("seed %d partition %d", seed, p)
                        .isEqualTo(run.sent.get(p));
            }
            assertThat(run.failed).as("seed %d", seed).isEmpty();
            run.assertOffsetsTold();
            run.assertCertain();
            run.assertMemoryReturned();
        }
    }

    @Test
    void shouldDoubleNothingWhenABatchIsTooLargeOnlyOnItsSecondAttempt() throws Exception {
        long first = Seed.first();
        for (long seed = first; seed < first + 800; seed++) {
            Run run = new Run(seed, 0.3, 1_000_000, true);
            run.changingLimits = true;

            run.play();

            run.assertNothingDoubledAndInOrder();
            run.assertOffsetsTold();
            run.assertCertain();
            run.assertMemoryReturned();
        }
    }

    @Test
    void shouldKnowWhichRecordsAreInTheLogWhenNotIdempotent() throws Exception {
        long first = Seed.first();
        Map<DeliveryCertainty, Integer> told = new EnumMap<>(DeliveryCertainty.class);
        for (long seed = first; seed < first + 500; seed++) {
            Run run = new Run(seed, 0.4, 200, false, false);

            run.play();

            run.assertCertain();
            run.certainties.values().forEach(certainty -> told.merge(certainty, 1, Integer::sum));
        }
        assertThat(told).as("what was told at all").containsOnlyKeys(DeliveryCertainty.values());
    }

    @Test
    void shouldObjectToCertaintyWhenBrokersLie() {
        assertThatThrownBy(() -> {
                    for (long seed = 1; seed < 500; seed++) {
                        Run run = new Run(seed, 0.5, 100, false, false);
                        run.cluster.lie();

                        run.play();

                        run.assertCertain();
                    }
                })
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("told to be NOT_PERSISTED");
    }

    @Test
    void shouldGoOnWithSequenceZeroWhenTheHighestIsUsed() throws Exception {
        for (long seed = 1; seed < 200; seed++) {
            Run run = new Run(seed, 0.1, 1_000_000, true);
            run.nextSequence = Integer.MAX_VALUE - 40;

            run.play();

            for (int p = 0; p < PARTITIONS; p++) {
                assertThat(run.cluster.log(p))
                        .as("seed %d partition %d", seed, p)
                        .isEqualTo(run.sent.get(p));
            }
            assertThat(run.failed).as("seed %d", seed).isEmpty();
            run.assertOffsetsTold();
        }
    }

    @Test
    void shouldFindDoubledRecordsWhenBrokersDoNotCheckSequences() throws Exception {
        // the twin: with such brokers the same faults must be visible to the same checks
        int doubled = 0;
        for (long seed = 1; seed < 100; seed++) {
            Run run = new Run(seed, 0.15, 1_000_000, false);

            run.play();

            for (int p = 0; p < PARTITIONS; p++) {
                doubled += run.cluster.log(p).size() - new HashSet<>(run.cluster.log(p)).size();
            }
        }
        assertThat(doubled).isPositive();
    }

    /** One producer's I/O side, of one or two threads, and one simulated cluster, played by a single thread. */
    static class Run {
        final long seed;
        private final boolean idempotent;
        final Random random;
        final SimulatedCluster cluster;
        private final BufferPool pool;
        final Accumulator accumulator;
        private final List<IoThread> ioThreads = new ArrayList<>();
        final Map<Integer, List<Long>> sent = new HashMap<>();
        final Map<Long, RecordMetadata> acknowledged = new HashMap<>();
        final Map<Long, Exception> failed = new HashMap<>();
        private final Map<Integer, Long> lastCompleted = new HashMap<>();
        private final Map<Long, DeliveryCertainty> certainties = new HashMap<>();
        boolean changingLimits;

        /** Where all partitions go on in the middle, or 0. */
        private int nextSequence;

        Run(long seed, double faultRate, long deliveryTimeoutMs, boolean checksSequences) {
            this(seed, faultRate, deliveryTimeoutMs, checksSequences, true);
        }

        Run(long seed, double faultRate, long deliveryTimeoutMs, boolean checksSequences, boolean idempotent) {
            this.seed = seed;
            this.idempotent = idempotent;
            this.random = new Random(seed);
            this.cluster = new SimulatedCluster(random, PARTITIONS, faultRate, checksSequences);
            ReadyQueues ready = ReadyQueues.forThreads(1 + random.nextInt(2));
            this.pool = new BufferPool(1 << 20, 200, ready::wake);
            this.accumulator = new Accumulator(pool, ready, BatchCodec.NONE, cluster::nowMs, 5);
            ClusterImages images = new ClusterImages(
                    ClusterImage.bootstrap(List.of(InetSocketAddress.createUnresolved("localhost", 1))));
            TopicRegistry registry = new TopicRegistry();
            registry.add(SimulatedCluster.TOPIC);
            SenderSettings settings = new SenderSettings(
                    5,
                    deliveryTimeoutMs,
                    Integer.MAX_VALUE,
                    new Backoff(10, 100, random::nextDouble),
                    seed % 4 == 0 ? ROOM_FOR_ONE : 1000, // a batch larger than a request is split unsent
                    5,
                    idempotent,
                    60_000,
                    600_000,
                    true,
                    300_000);
            IoContext first = new IoContext(
                    accumulator,
                    ready.get(0),
                    images,
                    registry,
                    new StalledBrokers(0),
                    cluster,
                    new NoMetrics(),
                    cluster::nowMs);
            MetadataRefresh metadata = new MetadataRefresh(first, settings);
            ProducerIds ids = new ProducerIds(first, ready, settings);
            this.ioThreads.add(new IoThread(first, settings, ids, metadata, TransactionShare.NONE, metadata, ids));
            for (int i = 1; i < ready.size(); i++) {
                IoContext more = new IoContext(
                        accumulator,
                        ready.get(i),
                        images,
                        registry,
                        new StalledBrokers(0),
                        cluster,
                        new NoMetrics(),
                        cluster::nowMs);
                this.ioThreads.add(new IoThread(more, settings, ids, metadata, TransactionShare.NONE));
            }
        }

        void play() throws InterruptedException, ReflectiveOperationException {
            for (int p = 0; p < PARTITIONS; p++) {
                sent.put(p, new ArrayList<>());
            }
            for (long value = 0; value < RECORDS; value++) {
                if (nextSequence > 0 && value == RECORDS / 2) {
                    jumpToNextSequence(value);
                }
                send(value);
                if (changingLimits && random.nextInt(10) == 0) {
                    cluster.maxMessageBytes(random.nextBoolean() ? ROOM_FOR_ONE : Integer.MAX_VALUE);
                }
                if (random.nextInt(3) == 0) {
                    runOnce();
                }
            }
            cluster.endFaults();
            for (int round = 0; acknowledged.size() + failed.size() < RECORDS; round++) {
                assertThat(round)
                        .as("seed %d: records without an outcome", seed)
                        .isLessThan(MAX_ROUNDS);
                runOnce();
            }
            for (int round = 0; pool.available() < pool.total() && round < MAX_ROUNDS; round++) {
                runOnce(); // expired batches that are still in flight
            }
        }

        /** 2^31 records would take too long. */
        private void jumpToNextSequence(long sentSoFar) throws ReflectiveOperationException {
            while (acknowledged.size() < sentSoFar) {
                runOnce();
            }
            cluster.expect(nextSequence);
            for (IoThread thread : ioThreads) {
                for (Object partition : (List<?>) field(Drainer.class, "partitions")
                        .get(field(IoThread.class, "drainer").get(thread))) {
                    if (partition != null) {
                        field(PartitionState.class, "nextSequence").setInt(partition, nextSequence);
                        field(PartitionState.class, "nextAcknowledged").setInt(partition, nextSequence);
                    }
                }
            }
        }

        private static Field field(Class<?> type, String name) throws NoSuchFieldException {
            Field field = type.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        }

        void runOnce() {
            ioThreads.get(random.nextInt(ioThreads.size())).runOnce();
        }

        void send(long value) throws InterruptedException {
            int partition = random.nextInt(PARTITIONS);
            byte[] bytes = ByteBuffer.allocate(Long.BYTES + random.nextInt(60))
                    .putLong(value)
                    .array();
            EncodableRecord record = new EncodableRecord(cluster.nowMs(), null, bytes, new byte[] {0});
            sent.get(partition).add(value);
            accumulator.append(
                    SimulatedCluster.TOPIC,
                    0,
                    partition,
                    record,
                    (DeliveryCallback) (m, e, certainty) -> {
                        certainties.put(value, certainty);
                        completed(partition, value, m, e);
                    },
                    0);
        }

        private void completed(int partition, long value, RecordMetadata metadata, Exception error) {
            assertThat(acknowledged).as("seed %d", seed).doesNotContainKey(value);
            assertThat(failed).as("seed %d", seed).doesNotContainKey(value);
            if (idempotent) {
                assertThat(lastCompleted.getOrDefault(partition, -1L))
                        .as("seed %d: callbacks in order", seed)
                        .isLessThan(value);
            }
            lastCompleted.put(partition, value);
            if (error == null) {
                acknowledged.put(value, metadata);
            } else {
                failed.put(value, error);
            }
        }

        void assertNothingDoubledAndInOrder() {
            for (int p = 0; p < PARTITIONS; p++) {
                List<Long> log = cluster.log(p);
                assertThat(new HashSet<>(log))
                        .as("seed %d, doubled in partition %d", seed, p)
                        .hasSameSizeAs(log);
                assertThat(log).as("seed %d, order of partition %d", seed, p).isSorted();
            }
        }

        void assertOffsetsTold() {
            acknowledged.forEach((value, metadata) -> {
                List<Long> log = cluster.log(metadata.partition());
                assertThat(log).as("seed %d: acknowledged but not there", seed).contains(value);
                if (metadata.hasOffset()) { // a duplicate that the broker remembers only by its sequence has none
                    assertThat(log.get((int) metadata.offset()))
                            .as("seed %d: offset told", seed)
                            .isEqualTo(value);
                }
            });
        }

        void assertCertain() {
            Set<Long> logged = new HashSet<>();
            for (int p = 0; p < PARTITIONS; p++) {
                logged.addAll(cluster.log(p));
            }
            certainties.forEach((value, certainty) -> {
                if (certainty != DeliveryCertainty.POSSIBLY_PERSISTED) {
                    assertThat(logged.contains(value))
                            .as("seed %d: %d is in the log, told to be %s", seed, value, certainty)
                            .isEqualTo(certainty == DeliveryCertainty.PERSISTED);
                }
                assertThat(failed.containsKey(value))
                        .as("seed %d: %d failed, told to be %s", seed, value, certainty)
                        .isEqualTo(certainty != DeliveryCertainty.PERSISTED);
            });
        }

        void assertMemoryReturned() {
            assertThat(pool.available()).as("seed %d: free memory", seed).isEqualTo(pool.total());
        }
    }
}
