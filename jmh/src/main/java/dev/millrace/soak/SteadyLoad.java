package dev.millrace.soak;

import dev.millrace.client.MillraceProducer;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * One producer that is sent to at a fixed rate, by one thread to a topic that stays, and by another, slowly, to topics of
 * which any may not exist.
 *
 * <p><b>Threads:</b> one calls it, and has it closed.
 */
final class SteadyLoad implements AutoCloseable {
    /** Small, because the producer keeps buffers that it once had. */
    static final long BUFFER_BYTES = 1 << 20;

    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final Producer<byte[], byte[]> producer;
    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong acknowledged = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean isStopping;

    SteadyLoad(KafkaCluster cluster) {
        Map<String, Object> config = new HashMap<>(cluster.clientConfig());
        config.put("delivery.timeout.ms", 1_500); // by which records to a topic that is gone hold up stop()
        config.put("request.timeout.ms", 1_000);
        config.put("buffer.memory", BUFFER_BYTES);
        config.put("max.block.ms", 500); // by which a topic that is gone holds up the second thread
        config.put("metadata.max.idle.ms", 5_000); // so that topics are also forgotten
        producer = new MillraceProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** Starts to send; also again, after {@link #stop}. */
    void start(int recordsPerSecond, String staying, List<String> coming) {
        isStopping = false;
        Random random = new Random(1);
        start("steady", () -> {
            for (long tick = 0, next = System.nanoTime(); !isStopping; tick++, next += TICK_NANOS) {
                for (long i = recordsPerSecond * tick / 100; i < recordsPerSecond * (tick + 1) / 100; i++) {
                    send(staying);
                }
                LockSupport.parkNanos(next + TICK_NANOS - System.nanoTime());
            }
        });
        start("coming", () -> {
            while (!isStopping) {
                send(coming.get(random.nextInt(coming.size())));
                LockSupport.parkNanos(TICK_NANOS);
            }
        });
    }

    private void start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    private void send(String topic) {
        sent.incrementAndGet();
        producer.send(
                new ProducerRecord<>(topic, new byte[200]),
                (metadata, exception) -> (exception == null ? acknowledged : failed).incrementAndGet());
    }

    /** Blocks until no record is without an outcome. */
    void stop() throws InterruptedException {
        isStopping = true;
        for (Thread thread : threads) {
            thread.join();
        }
        threads.clear();
        producer.flush();
    }

    /** Bytes of the buffer memory that are not free. */
    long usedBufferBytes() {
        return (long) (metric("buffer-total-bytes") - metric("buffer-available-bytes"));
    }

    private double metric(String name) {
        return producer.metrics().values().stream()
                .filter(metric -> metric.metricName().name().equals(name)
                        && metric.metricName().group().equals("producer-metrics"))
                .mapToDouble(metric -> (double) metric.metricValue())
                .findFirst()
                .orElseThrow();
    }

    long sent() {
        return sent.get();
    }

    long acknowledged() {
        return acknowledged.get();
    }

    long failed() {
        return failed.get();
    }

    @Override
    public void close() {
        isStopping = true;
        producer.close();
    }
}
