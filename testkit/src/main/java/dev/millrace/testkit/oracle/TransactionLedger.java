package dev.millrace.testkit.oracle;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Keeps every transaction of several producers with what each producer told of its end, and what consumers read meanwhile;
 * reads the topics in the end, and names each transaction and each record of which something else is true. Each partition
 * is a list that transactions append to, as in Jepsen's tests of Kafka.
 *
 * <p>Not judged, because Kafka does not promise it: that records of two transactions do not mix in a partition, and that
 * a consumer sees all partitions of a transaction at once.
 *
 * <p><b>Threads:</b> any; the transactions of one producer number are played one after the other. {@link #judge} is called
 * when all producers and consumers have ended.
 */
public final class TransactionLedger {
    private final long run;
    private final long startNanos = System.nanoTime();
    private final AtomicLong turns = new AtomicLong();
    private final Map<Integer, Producer> producers = new ConcurrentHashMap<>();
    private final List<CommittedReads> reads = new ArrayList<>();

    /** Judges the transactions of one run. */
    public TransactionLedger(long run) {
        this.run = run;
    }

    /** What one producer sent. Guarded by itself. */
    private record Producer(List<SentTransaction> transactions, List<SentTransaction> byRecord, List<Stamp> records) {
        Producer() {
            this(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        }
    }

    /** Enters a transaction just before {@code beginTransaction}. */
    public SentTransaction begin(int producer) {
        Producer own = producers.computeIfAbsent(producer, unused -> new Producer());
        synchronized (own) {
            SentTransaction transaction = new SentTransaction(this, producer, own.transactions.size());
            own.transactions.add(transaction);
            return transaction;
        }
    }

    /** For what one consumer with {@code isolation.level=read_committed} reads from the beginning, while producers send. */
    public synchronized CommittedReads reads() {
        CommittedReads ofConsumer = new CommittedReads(this);
        reads.add(ofConsumer);
        return ofConsumer;
    }

    /**
     * Reads the topics from their beginning to their present end with a consumer of Kafka, and compares.
     *
     * @param clientConfig for a consumer
     * @throws IllegalStateException if nothing arrives for 60 s though there is more
     * @throws org.apache.kafka.common.KafkaException as the consumer throws it
     */
    public TransactionVerdict judge(Map<String, Object> clientConfig, Collection<String> topics) {
        Map<String, Object> config = new HashMap<>(clientConfig);
        config.put("check.crcs", true);
        config.put("isolation.level", "read_committed");
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        TopicReader.readAll(config, topics, records::add, () -> {});
        return judge(records);
    }

    /** Judges records that the caller has read, in the order of each partition. */
    synchronized TransactionVerdict judge(Iterable<ConsumerRecord<byte[], byte[]>> records) {
        TransactionJudge judge = new TransactionJudge(this);
        records.forEach(judge::add);
        reads.forEach(judge::compare);
        return judge.verdict(producers.values().stream()
                .flatMap(producer -> producer.transactions.stream())
                .toList());
    }

    /** Milliseconds since the ledger was made. */
    public long nowMs() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
    }

    long nextTurn() {
        return turns.incrementAndGet();
    }

    Stamp enter(SentTransaction transaction, String topic, int partition) {
        Producer own = producers.get(transaction.producer());
        synchronized (own) {
            Stamp stamp = new Stamp(run, transaction.producer(), topic, partition, own.records.size());
            own.records.add(stamp);
            own.byRecord.add(transaction);
            return stamp;
        }
    }

    /** The transaction of exactly this record; null if nobody sent it. */
    SentTransaction transactionOrNull(Stamp stamp) {
        Producer own = producers.get(stamp.thread());
        if (own == null) {
            return null;
        }
        synchronized (own) {
            int sequence = (int) stamp.sequence();
            boolean isKnown =
                    sequence < own.records.size() && own.records.get(sequence).equals(stamp);
            return isKnown ? own.byRecord.get(sequence) : null;
        }
    }
}
