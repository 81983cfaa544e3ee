package dev.millrace.client.io;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.BatchCodec;
import dev.millrace.client.accumulator.EncodableRecord;
import dev.millrace.client.accumulator.ReadyQueues;
import dev.millrace.client.accumulator.RecordFuture;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;

/**
 * One producer's I/O side, of one or two threads, its application, and one simulated cluster, played by a single
 * thread. What it was told is kept for {@link SimulationOracle}.
 */
class ProducerSimulation {
    static final int PARTITIONS = 3;
    static final int RECORDS = 400;
    private static final int MAX_ROUNDS = 20_000;

    /** Bytes of a batch with the largest record, and of none with two of the larger ones. */
    static final int ROOM_FOR_ONE = 140;

    final long seed;
    final Client client;
    final Random random;
    final SimulatedCluster cluster;
    final BufferPool pool;
    final Accumulator accumulator;
    private final List<IoThread> ioThreads = new ArrayList<>();
    final Map<Integer, List<Long>> sent = new HashMap<>();
    final Map<Long, RecordFuture> futures = new HashMap<>();
    final Map<Long, RecordMetadata> acknowledged = new HashMap<>();
    final Map<Long, Exception> failed = new HashMap<>();
    final Map<Long, DeliveryCertainty> certainties = new HashMap<>();
    private final List<String> violations = new ArrayList<>();
    private final Map<Integer, Long> lastCompleted = new HashMap<>();
    private long nextValue;
    private boolean isWaiting;

    /** Whether the limit of the brokers changes all the time. */
    boolean changingLimits;

    /** Whether most records have timestamps of days ago. */
    boolean hasOldRecords;

    /** Whether the application pauses now and then, for seconds. */
    boolean pauses;

    /** Whether the producer's machine is suspended for days now and then. */
    boolean isSuspended;

    /** Whether the topic is deleted and created anew now and then. */
    boolean recreatesTopic;

    /** Whether the application flushes, and sends in callbacks. */
    boolean isBusy;

    /** Whether the producer is closed without time while records are on their way. */
    boolean closesEarly;

    /** Where all partitions go on in the middle, or 0. */
    int nextSequence;

    /** How the producer is configured. */
    record Client(boolean idempotent, int maxInFlight, long deliveryTimeoutMs, int memory) {
        static final long NEVER_MS = 1_000_000;
        private static final int PLENTY = 1 << 20;

        static Client idempotent(long deliveryTimeoutMs) {
            return new Client(true, 5, deliveryTimeoutMs, PLENTY);
        }

        static Client notIdempotent(int maxInFlight, long deliveryTimeoutMs) {
            return new Client(false, maxInFlight, deliveryTimeoutMs, PLENTY);
        }

        Client with(int bytes) {
            return new Client(idempotent, maxInFlight, deliveryTimeoutMs, bytes);
        }
    }

    ProducerSimulation(long seed, double faultRate, Client client, boolean checksSequences) {
        this.seed = seed;
        this.client = client;
        this.random = new Random(seed);
        this.cluster = new SimulatedCluster(random, PARTITIONS, faultRate, checksSequences);
        cluster.expectInFlight(client.maxInFlight);
        ReadyQueues ready = ReadyQueues.forThreads(1 + random.nextInt(2));
        this.pool = new BufferPool(client.memory, 200, ready::wake);
        this.accumulator = new Accumulator(pool, ready, BatchCodec.NONE, cluster::nowMs, 5);
        ClusterImages images =
                new ClusterImages(ClusterImage.bootstrap(List.of(InetSocketAddress.createUnresolved("localhost", 1))));
        TopicRegistry registry = new TopicRegistry();
        registry.add(SimulatedCluster.TOPIC);
        SenderSettings settings = new SenderSettings(
                5,
                client.deliveryTimeoutMs,
                Integer.MAX_VALUE,
                new Backoff(10, 100, random::nextDouble),
                splitsUnsent() ? ROOM_FOR_ONE : 1000,
                client.maxInFlight,
                client.idempotent,
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
        for (IoContext context : contexts) {
            IoTask[] tasks = ioThreads.isEmpty() ? new IoTask[] {metadata, ids} : new IoTask[0];
            ioThreads.add(new IoThread(context, settings, ids, metadata, TransactionShare.NONE, tasks));
        }
        if (ioThreads.size() == 1) {
            cluster.objectToSleepWhile(() -> acknowledged.size() + failed.size() < futures.size());
        }
        for (int p = 0; p < PARTITIONS; p++) {
            sent.put(p, new ArrayList<>());
        }
    }

    /** A batch larger than a request is split before it is sent. */
    private boolean splitsUnsent() {
        return seed % 4 == 0;
    }

    /** Unless there are parts, which have their sequences before they are sent. */
    void objectToGaps() {
        if (!splitsUnsent()) {
            cluster.objectToGaps();
        }
    }

    void play() throws InterruptedException, ReflectiveOperationException {
        for (int i = 0; i < RECORDS; i++) {
            if (nextSequence > 0 && i == RECORDS / 2) {
                jumpToNextSequence();
            }
            playSend();
        }
        if (closesEarly) {
            closeNow();
            return;
        }
        cluster.endFaults();
        if (isBusy) {
            flush();
        }
        runUntilAllIsTold();
        for (int round = 0; pool.available() < pool.total() && round < MAX_ROUNDS; round++) {
            runOnce(); // expired batches that are still in flight
        }
    }

    private void playSend() throws InterruptedException {
        send(nextValue++);
        if (changingLimits && random.nextInt(10) == 0) {
            cluster.topic.maxMessageBytes(random.nextBoolean() ? ROOM_FOR_ONE : Integer.MAX_VALUE);
        }
        if (pauses && random.nextInt(20) == 0) {
            runUntilAllIsTold();
            cluster.passTime(2 * random.nextLong(cluster.topic.expirationMs()));
        }
        if (isSuspended && random.nextInt(40) == 0) {
            cluster.suspend();
        }
        if (recreatesTopic && random.nextInt(40) == 0) {
            createTopicAnew();
        }
        if (nextValue == RECORDS / 3) {
            cluster.topic.show(PARTITIONS);
        }
        if (isBusy && random.nextInt(60) == 0) {
            flush();
        }
        if (random.nextInt(3) == 0) {
            runOnce();
        }
    }

    /** Sometimes when all but one partition are idle, so that they hear of it before they are sent to. */
    private void createTopicAnew() throws InterruptedException {
        if (random.nextBoolean()) {
            cluster.createTopicAnew();
            return;
        }
        runUntilAllIsTold();
        cluster.createTopicAnew();
        send(nextValue++);
        runUntilAllIsTold();
    }

    /** 2^31 records would take too long. */
    private void jumpToNextSequence() throws ReflectiveOperationException {
        runUntilAllIsTold();
        cluster.topic.expect(nextSequence);
        for (IoThread thread : ioThreads) {
            for (Object partition : (List<?>) field(Drainer.class, "partitions")
                    .get(field(IoThread.class, "drainer").get(thread))) {
                if (partition != null) {
                    Object sequences = field(PartitionState.class, "sequences").get(partition);
                    field(Sequences.class, "next").setInt(sequences, nextSequence);
                    field(Sequences.class, "nextAcknowledged").setInt(sequences, nextSequence);
                }
            }
        }
    }

    private static Field field(Class<?> type, String name) throws NoSuchFieldException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    /**
     * Nothing is sent meanwhile, so when the thread that flushes goes on there is nothing left to do that could depend
     * on it.
     */
    private void flush() throws InterruptedException {
        isWaiting = true;
        Thread flush = new Thread(this::flushQuietly, "flush");
        flush.start();
        while (flush.getState() != Thread.State.WAITING && flush.isAlive()) {
            Thread.onSpinWait();
        }
        if (!flush.isAlive() && !isAllTold()) {
            violations.add("flush returned before the last record had its outcome");
        }
        runUntilAllIsTold();
        flush.join();
        isWaiting = false;
    }

    private void flushQuietly() {
        try {
            accumulator.flush();
        } catch (InterruptedException e) {
            violations.add("flush was interrupted");
        }
    }

    private void closeNow() {
        for (int round = random.nextInt(20); round > 0; round--) {
            runOnce();
        }
        accumulator.close();
        ioThreads.forEach(thread -> thread.end(new KafkaException("closed without time")));
    }

    boolean isAllTold() {
        return acknowledged.size() + failed.size() == nextValue;
    }

    private void runUntilAllIsTold() {
        for (int round = 0; !isAllTold(); round++) {
            if (round == MAX_ROUNDS) {
                throw new AssertionError("seed " + seed + ": records without an outcome");
            }
            runOnce();
            if (isBusy && random.nextInt(4) == 0 && wouldFlushWait() == isAllTold()) {
                violations.add("flush would " + (isAllTold() ? "wait for nothing" : "not wait for all records"));
            }
        }
    }

    /** An interrupted thread does not wait, and says so. */
    private boolean wouldFlushWait() {
        Thread.currentThread().interrupt();
        try {
            accumulator.flush();
        } catch (InterruptedException e) {
            return true;
        }
        Thread.interrupted(); // clears it
        return false;
    }

    void runOnce() {
        ioThreads.get(random.nextInt(ioThreads.size())).runOnce();
    }

    void send(long value) throws InterruptedException {
        int partition = random.nextInt(PARTITIONS);
        EncodableRecord record = recordOf(value);
        isWaiting = true;
        for (int round = 0; !tryAppend(partition, value, record); round++) {
            if (round == MAX_ROUNDS) {
                throw new AssertionError("seed " + seed + ": no memory comes back");
            }
            runOnce();
        }
        isWaiting = false;
    }

    private EncodableRecord recordOf(long value) {
        byte[] bytes = ByteBuffer.allocate(Long.BYTES + random.nextInt(60))
                .putLong(value)
                .array();
        return new EncodableRecord(cluster.clocks.wallMs() - ageMs(), null, bytes, new byte[] {0});
    }

    private long ageMs() {
        return hasOldRecords && random.nextInt(4) > 0 ? SimulatedTopic.DAY_MS * (1 + random.nextInt(3)) : 0;
    }

    /** False if there is no memory. */
    private boolean tryAppend(int partition, long value, EncodableRecord record) throws InterruptedException {
        try {
            futures.put(
                    value,
                    accumulator.append(
                            SimulatedCluster.TOPIC,
                            0,
                            partition,
                            record,
                            (DeliveryCallback) (metadata, error, certainty) -> {
                                certainties.put(value, certainty);
                                onCompletion(partition, value, metadata, error);
                            },
                            0));
        } catch (BufferExhaustedException e) {
            return false;
        }
        sent.get(partition).add(value);
        return true;
    }

    /** Violations are noted, because what a callback throws is caught. */
    private void onCompletion(int partition, long value, RecordMetadata metadata, Exception error) {
        if (acknowledged.containsKey(value) || failed.containsKey(value)) {
            violations.add("the callback of " + value + " ran twice");
        }
        if (futures.get(value).isDone()) {
            violations.add("the future of " + value + " was done before its callback");
        }
        if (client.idempotent && lastCompleted.getOrDefault(partition, -1L) >= value) {
            violations.add("the callback of " + value + " ran after that of " + lastCompleted.get(partition));
        }
        if (metadata.partition() != partition) {
            violations.add(value + " was sent to partition " + partition + ", and told to be in " + metadata);
        }
        lastCompleted.put(partition, value);
        cluster.note("told", partition, value, metadata, error);
        if (error == null) {
            acknowledged.put(value, metadata);
        } else {
            failed.put(value, error);
        }
        if (isBusy && !isWaiting && nextValue < RECORDS - 1 && random.nextInt(20) == 0) {
            sendInCallback();
        }
    }

    private void sendInCallback() {
        int partition = random.nextInt(PARTITIONS);
        try {
            if (tryAppend(partition, nextValue, recordOf(nextValue))) {
                nextValue++;
            }
        } catch (InterruptedException e) {
            violations.add("a callback was interrupted");
        }
    }

    /** What happened that must not happen. */
    List<String> violations() {
        return Stream.concat(violations.stream(), cluster.violations().stream()).toList();
    }
}
