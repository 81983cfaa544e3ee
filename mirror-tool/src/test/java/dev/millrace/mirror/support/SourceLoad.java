package dev.millrace.mirror.support;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.Producer;

/** Writes to a topic of the source until it is stopped, in small batches and in large ones. */
public final class SourceLoad implements AutoCloseable {
    /** So many records may wait for the mirrors; enough that they have always something to write. */
    private static final long BACKLOG = 30_000;

    /** Leaves the processors to the others. */
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(60);

    private final MirrorFixture clusters;
    private final String topic;
    private final String copy;
    private final int partitions;
    private final long seed;
    private final Duration age;
    private final AtomicLong written = new AtomicLong();
    private final Thread thread = new Thread(this::write, "load");
    private volatile boolean isStopped;
    private volatile RuntimeException failure;

    public SourceLoad(MirrorFixture clusters, String topic, int partitions, long seed) {
        this(clusters, topic, topic, partitions, seed);
    }

    /** @param copy what the topic is called on the target */
    public SourceLoad(MirrorFixture clusters, String topic, String copy, int partitions, long seed) {
        this(clusters, topic, copy, partitions, seed, Duration.ZERO);
    }

    /** @param age of the records */
    public SourceLoad(MirrorFixture clusters, String topic, String copy, int partitions, long seed, Duration age) {
        this.age = age;
        this.clusters = clusters;
        this.topic = topic;
        this.copy = copy;
        this.partitions = partitions;
        this.seed = seed;
        thread.start();
    }

    private void write() {
        try (Producer<byte[], byte[]> small = producer(Map.of("batch.size", 1_000));
                Producer<byte[], byte[]> large = producer(Map.of("linger.ms", 20, "batch.size", 100_000))) {
            for (int round = 0; !isStopped; round++) {
                while (!isStopped && written.get() > clusters.mirrored(copy) + BACKLOG) {
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
                boolean isSmall = round % 2 == 0;
                int records = isSmall ? 300 : 3_000;
                clusters.fill(isSmall ? small : large, topic, partitions, records, seed + round, age);
                written.addAndGet(records);
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        } catch (RuntimeException e) {
            failure = e;
        }
    }

    private Producer<byte[], byte[]> producer(Map<String, Object> settings) {
        Map<String, Object> config = new HashMap<>(clusters.source().clientConfig());
        config.putAll(settings);
        return StockProducers.create(config);
    }

    /** Returns how many records there are. */
    public long stop() {
        close();
        if (failure != null) {
            throw failure;
        }
        return written.get();
    }

    @Override
    public void close() {
        isStopped = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
