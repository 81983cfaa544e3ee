package dev.millrace.client.io;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.BatchCodec;
import dev.millrace.client.accumulator.EncodableRecord;
import dev.millrace.client.accumulator.ReadyQueues;
import dev.millrace.client.accumulator.RecordFuture;
import dev.millrace.client.delivery.DeliveryCallback;
import dev.millrace.client.memory.BufferPool;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.StalledBrokers;
import dev.millrace.client.metadata.TopicRegistry;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;

/** The I/O side of one transactional producer, of one or two threads, played by a single thread. */
final class TransactionalClient {
    static final int MAX_ROUNDS = 200_000;

    private final long seed;
    private final Random random;
    final SimulatedCluster cluster;
    final BufferPool pool;
    private final Accumulator accumulator;
    final TransactionState state;
    final List<IoThread> ioThreads = new ArrayList<>();
    private final TransactionDriver driver;

    /** What other threads do after the first has looked at the state, and before it looks at the shares. */
    Runnable betweenLooks = () -> {};

    final List<IoThreadTransactionShare> shares = new ArrayList<>() {
        @Override
        public Stream<IoThreadTransactionShare> stream() {
            Runnable others = betweenLooks;
            betweenLooks = () -> {};
            others.run();
            return super.stream();
        }
    };

    TransactionalClient(long seed, Random random, SimulatedCluster cluster, long deliveryTimeoutMs) {
        this.seed = seed;
        this.random = random;
        this.cluster = cluster;
        ReadyQueues ready = ReadyQueues.forThreads(1 + random.nextInt(2));
        this.pool = new BufferPool(1 << 20, 200, ready::wake);
        this.accumulator = new Accumulator(pool, ready, BatchCodec.NONE, cluster::nowMs, 5);
        this.state = new TransactionState("id", ready::wake);
        ClusterImages images =
                new ClusterImages(ClusterImage.bootstrap(List.of(InetSocketAddress.createUnresolved("localhost", 1))));
        TopicRegistry registry = new TopicRegistry();
        registry.add(SimulatedCluster.TOPIC);
        SenderSettings settings = new SenderSettings(
                5,
                deliveryTimeoutMs,
                Integer.MAX_VALUE,
                new Backoff(10, 100, random::nextDouble),
                1000,
                5,
                true,
                60_000,
                600_000,
                true,
                300_000,
                true);
        List<IoContext> contexts = new ArrayList<>();
        for (int i = 0; i < ready.size(); i++) {
            contexts.add(new IoContext(
                    accumulator,
                    ready.get(i),
                    images,
                    registry,
                    new StalledBrokers(0),
                    cluster,
                    new NoMetrics(),
                    cluster::nowMs,
                    cluster.clocks::wallMs));
        }
        MetadataRefresh metadata = new MetadataRefresh(contexts.get(0), settings);
        ProducerIds ids = new ProducerIds(contexts.get(0), ready, settings);
        TransactionPartitions partitions = new TransactionPartitions(() -> {});
        driver = new TransactionDriver(state, partitions, shares, ids, contexts.get(0), settings.retryBackoff());
        for (IoContext context : contexts) {
            shares.add(new IoThreadTransactionShare(state, partitions, () -> {}));
            IoTask[] tasks = ioThreads.isEmpty() ? new IoTask[] {metadata, driver} : new IoTask[0];
            ioThreads.add(new IoThread(context, settings, ids, metadata, shares.get(shares.size() - 1), tasks));
        }
        cluster.onDisconnect((refusal, node) -> {
            metadata.onDisconnect(refusal);
            driver.onDisconnect(refusal, node);
        });
    }

    RecordFuture append(int partition, long value, long ageMs, DeliveryCallback callback) throws InterruptedException {
        byte[] bytes = ByteBuffer.allocate(Long.BYTES + random.nextInt(60))
                .putLong(value)
                .array();
        EncodableRecord record = new EncodableRecord(cluster.nowMs() - ageMs, null, bytes, new byte[] {0});
        return accumulator.append(SimulatedCluster.TOPIC, 0, partition, record, callback, 0);
    }

    /** What the call failed with, or null. */
    RuntimeException await(TransactionCall call) {
        for (int round = 0; round < MAX_ROUNDS; round++) {
            try {
                call.await(0);
                return null;
            } catch (TimeoutException e) {
                runOnce();
            } catch (RuntimeException e) {
                return e;
            }
        }
        throw new AssertionError("seed " + seed + ": " + call.name() + " never ends");
    }

    /** Only one of the threads goes on, until it has done its part in the end of the transaction. */
    void untilDone(int thread) {
        for (int round = 0; !shares.get(thread).isDone(state.view().number()); round++) {
            if (round == MAX_ROUNDS) {
                throw new AssertionError("seed " + seed + ": the transaction never ends");
            }
            ioThreads.get(thread).runOnce();
        }
    }

    boolean isFailed() {
        return state.view().phase() == TransactionPhase.FATAL_ERROR;
    }

    void runOnce() {
        ioThreads.get(random.nextInt(ioThreads.size())).runOnce();
    }

    /** As {@code close} without time. */
    void close() {
        KafkaException reason = new KafkaException("closed without time");
        state.close();
        accumulator.close();
        state.closeToRecords();
        for (int i = ioThreads.size() - 1; i >= 0; i--) {
            ioThreads.get(i).end(reason);
        }
        driver.end(reason);
    }
}
