package dev.millrace.client.io;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.BatchCodec;
import dev.millrace.client.accumulator.EncodableRecord;
import dev.millrace.client.accumulator.ReadyQueues;
import dev.millrace.client.accumulator.RecordFuture;
import dev.millrace.client.memory.BufferPool;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.StalledBrokers;
import dev.millrace.client.metadata.TopicRegistry;
import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.common.errors.ApiException;

/** One I/O thread's code, run by the test's own thread against {@link ScriptedBrokers}. */
final class ScriptedIo {
    static final String TOPIC = "t";
    static final long DELIVERY_TIMEOUT_MS = 10_000;
    static final int BATCH_SIZE = 200;
    static final long STALLED_AFTER_MS = 500;

    /** No second record of this size fits into a batch. */
    private static final int VALUE_SIZE = 100;

    private static final int ROUNDS = 12;
    private static final Backoff BACKOFF = new Backoff(10, 100);

    final ScriptedBrokers brokers;
    final BufferPool pool;
    final Accumulator accumulator;
    final ClusterImages images;
    final TopicRegistry registry = new TopicRegistry();
    final MetadataRefresh metadata;
    final ProducerIds ids;
    final NoMetrics metrics = new NoMetrics();
    final Drainer drainer;
    long lingerClockSlowMs = 0;
    final StalledBrokers stalled = new StalledBrokers(STALLED_AFTER_MS);
    private final ReadyQueues ready;
    private final SenderSettings settings;
    private final IoContext context;

    private ScriptedIo(int partitions, SenderSettings settings) {
        this(partitions, settings, null);
    }

    private ScriptedIo(int partitions, SenderSettings settings, ApiException idRefusal) {
        this(partitions, settings, idRefusal, BatchCodec.NONE);
    }

    private ScriptedIo(int partitions, SenderSettings settings, ApiException idRefusal, BatchCodec codec) {
        this.brokers = new ScriptedBrokers(partitions);
        this.brokers.idRefusal = idRefusal;
        this.settings = settings;
        this.ready = ReadyQueues.forThreads(1);
        this.pool = new BufferPool(1 << 20, BATCH_SIZE, ready::wake);
        this.accumulator = new Accumulator(
                pool, ready, codec, () -> brokers.nowMs, () -> brokers.nowMs - lingerClockSlowMs, settings.lingerMs());
        this.images =
                new ClusterImages(ClusterImage.bootstrap(List.of(InetSocketAddress.createUnresolved("localhost", 1))));
        registry.add(TOPIC);
        this.context = new IoContext(
                accumulator, ready.get(0), images, registry, stalled, brokers, metrics, () -> brokers.nowMs, () -> 0);
        this.metadata = new MetadataRefresh(context, settings);
        this.ids = new ProducerIds(context, ready, settings);
        this.drainer = new Drainer(context, settings, ids, metadata, TransactionShare.NONE);
        run();
    }

    /** Without linger; the topic's leader is broker 1. */
    static ScriptedIo idempotent(int partitions) {
        return new ScriptedIo(partitions, settings(5, true, 0, 1000));
    }

    /**
     * Its first request for a producer id was answered with {@code why}, and so are all others until the test changes
     * that.
     */
    static ScriptedIo refusedAnId(ApiException why) {
        return new ScriptedIo(1, settings(5, true, 0, 1000), why);
    }

    /** As {@link #idempotent}, but batches are compressed. */
    static ScriptedIo compressing(int partitions, BatchCodec codec) {
        return new ScriptedIo(partitions, settings(5, true, 0, 1000), null, codec);
    }

    static ScriptedIo notIdempotent(int partitions, int maxInFlight) {
        return new ScriptedIo(partitions, settings(maxInFlight, false, 0, 1000));
    }

    static ScriptedIo lingering(int partitions, long lingerMs) {
        return new ScriptedIo(partitions, settings(5, true, lingerMs, 1000));
    }

    static ScriptedIo withMaxRequestSize(int partitions, int maxRequestSize) {
        return new ScriptedIo(partitions, settings(5, true, 0, maxRequestSize));
    }

    private static SenderSettings settings(int maxInFlight, boolean idempotent, long lingerMs, int maxRequestSize) {
        return new SenderSettings(
                lingerMs,
                DELIVERY_TIMEOUT_MS,
                Integer.MAX_VALUE,
                BACKOFF,
                maxRequestSize,
                maxInFlight,
                idempotent,
                60_000,
                600_000,
                true,
                300_000,
                true);
    }

    /** A record that fills a batch. */
    RecordFuture send(int partition) {
        return send(partition, VALUE_SIZE);
    }

    RecordFuture send(int partition, int valueSize) {
        return send(partition, valueSize, (m, e) -> {});
    }

    RecordFuture send(int partition, Callback callback) {
        return send(partition, VALUE_SIZE, callback);
    }

    private RecordFuture send(int partition, int valueSize, Callback callback) {
        try {
            EncodableRecord record = new EncodableRecord(brokers.nowMs, null, new byte[valueSize], new byte[] {0});
            return accumulator.append(TOPIC, 0, partition, record, callback, 0);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Sends one record and has it acknowledged, so that the leader is known to accept. */
    void warmUp(int partition) {
        send(partition);
        run();
        brokers.pending().forEach(ScriptedBrokers.Request::accept);
        run();
    }

    /** Rounds of the I/O thread until nothing more happens; no time passes. */
    void run() {
        for (int i = 0; i < ROUNDS; i++) {
            runOnce();
        }
    }

    void runOnce() {
        long nowMs = brokers.nowMs;
        drainer.visitChanged(nowMs);
        long waitMs = Math.min(metadata.runIfDue(nowMs), ids.runIfDue(nowMs));
        waitMs = Math.min(waitMs, drainer.drain(nowMs));
        brokers.poll(waitMs, nowMs);
    }

    /** Real threads instead of the test's own; not started yet. */
    IoThreads threads() {
        return threads(1);
    }

    /** With more than one all have the same link and partitions, which is enough to start and to end them. */
    IoThreads threads(int count) {
        return new IoThreads(Collections.nCopies(count, context), ready, settings, Optional.empty());
    }

    /** One of them, to be run by the test. */
    IoThread thread(TransactionShare share) {
        return new IoThread(context, settings, ids, metadata, share);
    }

    /** Lets time pass, then {@link #run}s. */
    void passTime(long ms) {
        brokers.nowMs += ms;
        run();
    }

    /** Lets every back-off end. */
    void passBackoff() {
        passTime(200);
    }
}
