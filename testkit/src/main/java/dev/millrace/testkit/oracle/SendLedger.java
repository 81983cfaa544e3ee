package dev.millrace.testkit.oracle;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Keeps every record that a producer was given with what the producer told of it, reads the topics in the end, and names
 * each record of which something else is true. It knows more than {@link DeliveryOracle}, which is for millions of
 * records per second: also what failed, where a record should be, and how often it was told.
 *
 * <p><b>Threads:</b> any; the records of one thread number are sent by one thread. {@link #judge} is called when the
 * producer is closed.
 */
public final class SendLedger {
    private static final String CHECK_CHECKSUMS = "check.crcs";

    private final long run;
    private final LongSupplier nanoTime;
    private final long startNanos;
    private final AtomicLong turns = new AtomicLong();
    private final Map<Row, List<SentRecord>> rows = new ConcurrentHashMap<>();

    /** Judges the records of one run. */
    public SendLedger(long run) {
        this(run, System::nanoTime);
    }

    SendLedger(long run, LongSupplier nanoTime) {
        this.run = run;
        this.nanoTime = nanoTime;
        startNanos = nanoTime.getAsLong();
    }

    /** The records of one thread to one topic, by sequence. */
    record Row(int thread, String topic) {}

    /**
     * Enters a record just before it is sent.
     *
     * @param partition −1 if the producer chooses it
     * @param generation of the topic, as in {@link TopicTerms}
     */
    public SentRecord enter(int thread, String topic, int partition, int generation) {
        List<SentRecord> row = rows.computeIfAbsent(new Row(thread, topic), unused -> new ArrayList<>());
        SentRecord record = new SentRecord(this, new Stamp(run, thread, topic, partition, row.size()), generation);
        row.add(record);
        return record;
    }

    /**
     * Reads the topics from their beginning to their present end with a consumer of Kafka, and compares.
     *
     * @param clientConfig for a consumer
     * @param terms what may be expected, of every topic that was sent to
     * @param existing those of the topics that exist
     * @throws IllegalStateException if nothing arrives for 60 s though there is more
     * @throws org.apache.kafka.common.KafkaException as the consumer throws it
     */
    public LedgerVerdict judge(
            Map<String, Object> clientConfig, Map<String, TopicTerms> terms, Collection<String> existing) {
        Map<String, Object> config = new HashMap<>(clientConfig);
        config.put(CHECK_CHECKSUMS, true);
        LedgerJudge judge = new LedgerJudge(run, rows, terms);
        TopicReader.readAll(config, existing, judge::add, () -> {});
        return judge.verdict();
    }

    /** Judges records that the caller has read, in the order of each partition. */
    LedgerVerdict judge(Iterable<ConsumerRecord<byte[], byte[]>> records, Map<String, TopicTerms> terms) {
        LedgerJudge judge = new LedgerJudge(run, rows, terms);
        records.forEach(judge::add);
        return judge.verdict();
    }

    /** Milliseconds since the ledger was made. */
    public long nowMs() {
        return TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - startNanos);
    }

    long nextTurn() {
        return turns.incrementAndGet();
    }
}
