package dev.millrace.client.support;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.oracle.DeliveryOracle;
import dev.millrace.testkit.oracle.Stamp;
import dev.millrace.testkit.oracle.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/** Sends stamped records, from the calling thread or from threads until they are stopped, and judges what arrived. */
public final class StampedLoad {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int MAX_UNACKNOWLEDGED = 2000;
    private static final int VALUE_SIZE = 100;

    private final Producer<byte[], byte[]> producer;
    private final String topic;
    private final int partitions;
    private final DeliveryOracle oracle = new DeliveryOracle(1);
    private final Semaphore room = new Semaphore(MAX_UNACKNOWLEDGED);
    private final AtomicLong acknowledged = new AtomicLong();
    private final AtomicReference<Exception> failure = new AtomicReference<>();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean stopping;
    private int sentByCaller;

    /**
     * Sends nothing yet, unless the producer is the stock one, which KAFKA-15591 may keep from ever recovering in a new
     * partition.
     */
    public StampedLoad(Producer<byte[], byte[]> producer, String topic, int partitions) throws Exception {
        this.producer = producer;
        this.topic = topic;
        this.partitions = partitions;
        if (ProducerKind.of(producer) == ProducerKind.STOCK) {
            connect();
        }
    }

    /** Sends one record to every partition until all are acknowledged: for faults of connections that exist. */
    public void connect() throws Exception {
        for (int p = 0; p < partitions; p++) {
            send(VALUE_SIZE).get();
        }
    }

    /** Sends one record from the calling thread; uses the partitions in turn. */
    public Future<RecordMetadata> send(int valueSize) {
        int sequence = sentByCaller++;
        return send(0, sequence, valueSize);
    }

    /** Sends so many records from the calling thread. */
    public List<Future<RecordMetadata>> send(int count, int valueSize) {
        List<Future<RecordMetadata>> futures = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            futures.add(send(valueSize));
        }
        return futures;
    }

    private Future<RecordMetadata> send(int thread, int sequence, int valueSize) {
        int partition = sequence % partitions;
        Stamp stamp = new Stamp(1, thread, topic, partition, sequence);
        return producer.send(new ProducerRecord<>(topic, partition, null, stamp.encode(valueSize)), (metadata, e) -> {
            if (e == null) {
                oracle.onAcknowledged(stamp);
                acknowledged.incrementAndGet();
            } else {
                failure.compareAndSet(null, e);
            }
            room.release();
        });
    }

    /** Starts threads that send until {@link #stop}, with a limit on unacknowledged records. */
    public void start(int count) {
        for (int t = 1; t <= count; t++) {
            int number = t;
            Thread thread = new Thread(() -> sendUntilStopped(number), "load-" + t);
            thread.setDaemon(true);
            threads.add(thread);
            thread.start();
        }
    }

    private void sendUntilStopped(int thread) {
        try {
            for (int sequence = 0; !stopping; sequence++) {
                room.acquire();
                send(thread, sequence, VALUE_SIZE);
            }
        } catch (Exception e) {
            failure.compareAndSet(null, e);
        }
    }

    /** Blocks until so many more records are acknowledged than now. */
    public void awaitMore(long count, Duration within) {
        long goal = acknowledged.get() + count;
        Await.until(count + " more records are acknowledged", within, () -> acknowledged.get() >= goal);
    }

    /** Ends the threads; the records that they have sent stay on their way. */
    public void stop() throws InterruptedException {
        stopping = true;
        for (Thread thread : threads) {
            thread.join(PATIENCE.toMillis());
            assertThat(thread.isAlive()).isFalse();
        }
    }

    /**
     * Call it after {@code flush} or {@code close}: all were acknowledged, and are there once, in order, in their
     * partitions.
     */
    public void assertAllDelivered(Map<String, Object> client) {
        assertThat(failure.get()).as("the first failure").isNull();
        Verdict verdict = assertDelivered(client);
        assertThat(verdict.read()).as("records in the topic").isEqualTo(acknowledged.get());
    }

    /** As {@link #assertAllDelivered}, but records may have failed; a failed record may be there or not. */
    public Verdict assertDelivered(Map<String, Object> client) {
        Verdict verdict = oracle.judge(client, List.of(topic));
        assertThat(verdict.isClean()).as(verdict.toString()).isTrue();
        return verdict;
    }
}
