package dev.millrace.chaos;

import dev.millrace.client.delivery.DeliveryCallback;
import dev.millrace.client.delivery.DeliveryCertainty;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.oracle.SendLedger;
import dev.millrace.testkit.oracle.SentRecord;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * The threads that send. Each has every record entered into the ledger with the outcomes that its callback and its future
 * tell. They send about 3,000 records per second, in bursts, which leaves the CPU to the brokers.
 */
final class Senders {
    private static final int THREADS = 32;
    private static final int MAX_PAUSE_MS = 40;
    private static final int BURST = 50;
    /** A topic that refuses large batches takes records slowly; more than it takes would wait until they expire. */
    private static final int MAX_PENDING_AFTER_FAULTS = 20;

    private final Producer<byte[], byte[]> producer;
    private final SendLedger ledger;
    private final List<ChaosTopic> topics;
    private final long seed;
    private final List<Thread> threads = new ArrayList<>();
    private final Queue<Pending> unfinished = new ConcurrentLinkedQueue<>();
    /** How many records of each partition were acknowledged, since {@link #awaitRecovery} was called. */
    private final Map<TopicPartition, Integer> acknowledged = new ConcurrentHashMap<>();

    private final Queue<String> failures = new ConcurrentLinkedQueue<>();
    private volatile boolean stopping;
    /** How many records of a thread may be without an outcome before it sends more. */
    private volatile int maxPending = Integer.MAX_VALUE;

    Senders(Producer<byte[], byte[]> producer, SendLedger ledger, List<ChaosTopic> topics, long seed) {
        this.producer = producer;
        this.ledger = ledger;
        this.topics = topics;
        this.seed = seed;
    }

    private record Pending(SentRecord record, Future<RecordMetadata> future) {}

    void start() {
        for (int number = 0; number < THREADS; number++) {
            int own = number;
            Thread thread = new Thread(() -> run(own), "sender-" + number);
            thread.setDaemon(true);
            threads.add(thread);
            thread.start();
        }
    }

    private void run(int thread) {
        Random random = new Random(31 * seed + thread);
        Queue<Pending> pending = new ArrayDeque<>();
        try {
            while (!stopping) {
                int records = random.nextInt(BURST) == 0 ? BURST : 1;
                for (int i = 0; i < records && pending.size() < maxPending; i++) {
                    pending.add(send(thread, random));
                }
                while (!pending.isEmpty() && pending.peek().future.isDone()) {
                    checkFuture(pending.remove());
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(MAX_PAUSE_MS)));
            }
        } catch (RuntimeException e) {
            failures.add("Thread " + thread + " at " + ledger.nowMs() + " ms: send threw " + e);
        }
        unfinished.addAll(pending);
    }

    /** Every fourth thread sends to topics that come and go as well; a send to one that is gone takes a while. */
    private Pending send(int thread, Random random) {
        List<ChaosTopic> possible = thread % 4 == 0
                ? topics
                : topics.stream()
                        .filter(topic -> topic.kind() != ChaosTopic.Kind.CHURNED)
                        .toList();
        ChaosTopic topic = possible.get(random.nextInt(possible.size()));
        int generation = topic.generation(); // before the partitions, so that a later topic's are not taken for its own
        int partition = random.nextInt(4) == 0 ? -1 : random.nextInt(topic.partitions());
        byte[] key = random.nextBoolean() ? null : new byte[] {(byte) thread};
        SentRecord record = ledger.enter(thread, topic.name(), partition, generation);
        byte[] value = record.stamp().encode(random.nextInt(500));
        Future<RecordMetadata> future = producer.send(
                new ProducerRecord<>(topic.name(), partition < 0 ? null : partition, topic.timestamp(), key, value),
                callback(record));
        return new Pending(record, future);
    }

    private DeliveryCallback callback(SentRecord record) {
        return (metadata, exception, certainty) -> {
            if (exception == null) {
                record.onAcknowledged(metadata);
                acknowledged.merge(new TopicPartition(metadata.topic(), metadata.partition()), 1, Integer::sum);
            } else {
                record.onFailed(certainty != DeliveryCertainty.NOT_PERSISTED, exception);
            }
        };
    }

    private static void checkFuture(Pending pending) {
        try {
            pending.record.onFutureAcknowledged(pending.future.get());
        } catch (ExecutionException e) {
            pending.record.onFutureFailed();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted though the future was done", e);
        }
    }

    /** Blocks until each partition takes records again, and each topic has taken so many. Call it after the faults. */
    void awaitRecovery(int records, Duration timeout) {
        maxPending = MAX_PENDING_AFTER_FAULTS;
        acknowledged.clear();
        try {
            Await.until(
                    "all topics take records", timeout, () -> lacking(records).isEmpty());
        } catch (IllegalStateException e) {
            failures.add("The faults are over, and too few records were acknowledged since, of " + lacking(records));
        }
    }

    private List<String> lacking(int records) {
        List<String> lacking = new ArrayList<>();
        for (ChaosTopic topic : topics) {
            int ofTopic = 0;
            for (TopicPartition partition : topic.allPartitions()) {
                int ofPartition = acknowledged.getOrDefault(partition, 0);
                ofTopic += ofPartition;
                if (ofPartition == 0) {
                    lacking.add(partition + ": none");
                }
            }
            if (ofTopic < records) {
                lacking.add(topic.name() + ": " + ofTopic);
            }
        }
        return lacking;
    }

    /** Blocks until no thread sends any more. */
    void stop(Duration timeout) throws InterruptedException {
        stopping = true;
        for (Thread thread : threads) {
            thread.join(timeout.toMillis());
            if (thread.isAlive()) {
                failures.add(thread.getName() + " hangs in send");
            }
        }
    }

    /** Call it after {@code flush}: then all futures are done. */
    void checkFutures() {
        for (Pending pending : unfinished) {
            if (pending.future.isDone()) {
                checkFuture(pending);
            } else {
                failures.add("After flush the future is not done of " + pending.record);
            }
        }
    }

    /** What a producer must never do, whatever the faults are. */
    List<String> failures() {
        return List.copyOf(failures);
    }
}
