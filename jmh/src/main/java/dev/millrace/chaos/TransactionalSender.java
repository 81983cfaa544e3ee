package dev.millrace.chaos;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.oracle.SentTransaction;
import dev.millrace.testkit.oracle.TransactionLedger;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * A thread that plays one transaction after the other, and enters into the ledger what it is told of each. It calls again
 * what has timed out, aborts what has failed, and takes a new producer where that fails as well, as Kafka's documentation
 * tells an application to do.
 *
 * <p><b>Threads:</b> one runs it, any asks and stops it.
 */
final class TransactionalSender implements Runnable {
    private static final int MAX_RECORDS = 10;
    private static final int MAX_PAUSE_MS = 40;

    /** Of a call that times out after {@code max.block.ms}; a fault lasts less than that. */
    private static final int TRIES = 30;

    private final String id;
    private final int number;
    private final Supplier<Producer<byte[], byte[]>> producers;
    private final TransactionLedger ledger;
    private final List<ChaosTopic> topics;
    private final ChaosCluster cluster;
    private final Random random;
    private Producer<byte[], byte[]> producer;
    private final AtomicInteger committed = new AtomicInteger();
    private final AtomicInteger fenced = new AtomicInteger();
    private volatile boolean isStopping;
    private volatile String failure = "";

    /**
     * @param id the {@code transactional.id} of all its producers
     * @param target the topics, and the cluster that has them
     */
    TransactionalSender(
            String id,
            int number,
            Supplier<Producer<byte[], byte[]>> producers,
            TransactionLedger ledger,
            Target target) {
        this.id = id;
        this.number = number;
        this.producers = producers;
        this.ledger = ledger;
        topics = target.topics;
        cluster = target.cluster;
        random = new Random(31 * target.seed + number);
    }

    /** Where senders send to, and what chooses it. */
    record Target(List<ChaosTopic> topics, ChaosCluster cluster, long seed) {}

    @Override
    public void run() {
        try {
            renewProducer();
            for (int transaction = 0; !isStopping; transaction++) {
                play(transaction % 8);
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(MAX_PAUSE_MS)));
            }
            renewProducer(); // so that a transaction of unknown outcome has one before the topics are read
        } catch (RuntimeException e) {
            failure = "Sender " + number + " at " + ledger.nowMs() + " ms: " + e;
        } finally {
            if (producer != null) {
                producer.close(Duration.ofSeconds(30));
            }
        }
    }

    /** One of eight is aborted, one fenced by a new producer; of the first sender one waits until it has timed out. */
    private void play(int turn) {
        SentTransaction transaction = ledger.begin(number);
        try {
            producer.beginTransaction();
            send(transaction);
            if (turn == 3) {
                abort(transaction);
            } else if (turn == 5) {
                fence(transaction);
            } else {
                if (turn == 7 && number == 0) {
                    awaitTimeout();
                    send(transaction);
                }
                commit(transaction);
            }
        } catch (KafkaException e) {
            transaction.onFailed(e);
            abortOrRenewProducer(transaction);
        }
    }

    private void send(SentTransaction transaction) {
        for (int i = random.nextInt(MAX_RECORDS); i >= 0; i--) {
            ChaosTopic topic = topics.get(random.nextInt(topics.size()));
            int partition = random.nextInt(topic.partitions());
            byte[] value = transaction.enter(topic.name(), partition).encode(random.nextInt(500));
            producer.send(new ProducerRecord<>(topic.name(), partition, null, value)); // else commit throws
        }
    }

    /** Sometimes gives up after the first time-out, so that the outcome stays unknown. */
    private void commit(SentTransaction transaction) {
        transaction.onCommitting();
        callAgain(producer::commitTransaction, random.nextInt(4) == 0 ? 1 : TRIES);
        transaction.onCommitted();
        committed.incrementAndGet();
    }

    private void abort(SentTransaction transaction) {
        callAgain(producer::abortTransaction, TRIES);
        transaction.onAborted();
    }

    /** A new producer has the same id when the old one commits, which therefore must not succeed. */
    private void fence(SentTransaction transaction) {
        try (Closing old = new Closing(producer)) {
            producer = null;
            renewProducer();
            old.producer.commitTransaction();
            throw new IllegalStateException("A fenced producer has committed " + transaction);
        } catch (KafkaException e) {
            transaction.onFailed(e);
            if (e instanceof ProducerFencedException || e instanceof InvalidProducerEpochException) {
                fenced.incrementAndGet();
            }
        }
    }

    /** As an application that hangs: the coordinator aborts the transaction, and the producer does not know. */
    private void awaitTimeout() {
        producer.flush();
        Await.until(
                "the coordinator has aborted the transaction of " + id,
                ChaosCluster.PATIENCE,
                () -> cluster.hasNoOpenTransaction(id));
    }

    private void abortOrRenewProducer(SentTransaction transaction) {
        try {
            abort(transaction);
        } catch (KafkaException | IllegalStateException e) { // the latter after a commit that has timed out
            renewProducer();
        }
    }

    /** Blocks until a new producer is ready, so that every transaction of earlier ones is committed or aborted. */
    private void renewProducer() {
        RuntimeException[] last = {null};
        try {
            Await.until("a producer of " + id + " is initialized", ChaosCluster.PATIENCE, () -> {
                if (producer != null) {
                    producer.close(Duration.ZERO);
                }
                producer = producers.get();
                try {
                    callAgain(producer::initTransactions, TRIES);
                    return true;
                } catch (KafkaException e) { // such as fenced by a request of an earlier one that arrives late
                    last[0] = e;
                    return false;
                }
            });
        } catch (IllegalStateException e) {
            throw new IllegalStateException(e.getMessage() + ": " + last[0], e);
        }
    }

    private static void callAgain(Runnable call, int tries) {
        for (int left = tries; ; left--) {
            try {
                call.run();
                return;
            } catch (TimeoutException e) {
                if (left <= 1) {
                    throw e;
                }
            }
        }
    }

    /** How many transactions were told as committed. */
    int committed() {
        return committed.get();
    }

    /** How many producers were told, when they committed, that a new one had their id; a call may also fail otherwise. */
    int fenced() {
        return fenced.get();
    }

    /** The exception that has ended it, in words; empty if none has. */
    String failure() {
        return failure;
    }

    /** It ends after its present transaction. */
    void stop() {
        isStopping = true;
    }

    private record Closing(Producer<byte[], byte[]> producer) implements AutoCloseable {
        @Override
        public void close() {
            producer.close(Duration.ZERO);
        }
    }
}
