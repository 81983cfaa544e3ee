package dev.millrace.client.support;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.oracle.LedgerVerdict;
import dev.millrace.testkit.oracle.SendLedger;
import dev.millrace.testkit.oracle.SentRecord;
import dev.millrace.testkit.oracle.Stamp;
import dev.millrace.testkit.oracle.TopicTerms;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * The only records of a topic, each of which is compared with what its callback and its future told, and with what is
 * read back.
 *
 * <p><b>Threads:</b> any, of which each sends with a number of its own.
 */
public final class JudgedSends {
    private final Producer<byte[], byte[]> producer;
    private final String topic;
    private final SendLedger ledger = new SendLedger(1);
    private final Map<SentRecord, Future<RecordMetadata>> taken = new ConcurrentHashMap<>();

    public JudgedSends(Producer<byte[], byte[]> producer, String topic) {
        this.producer = producer;
        this.topic = topic;
    }

    /** Sends a record without key to any partition, from the test's own thread. */
    public Future<RecordMetadata> send(int valueSize) {
        return send(0, null, null, valueSize, (metadata, error) -> {});
    }

    /**
     * Sends a record; the value is a {@link Stamp}, and longer than {@code valueSize} if that is too small for one.
     *
     * @param partition null if the producer chooses it
     * @param callback called after the outcome is noted
     */
    public Future<RecordMetadata> send(int thread, Integer partition, byte[] key, int valueSize, Callback callback) {
        SentRecord sent = ledger.enter(thread, topic, partition == null ? -1 : partition, 0);
        byte[] value = sent.stamp().encode(valueSize);
        try {
            Future<RecordMetadata> future =
                    producer.send(new ProducerRecord<>(topic, partition, key, value), (metadata, error) -> {
                        if (error == null) {
                            sent.onAcknowledged(metadata);
                        } else {
                            sent.onFailed(true, error);
                        }
                        callback.onCompletion(metadata, error);
                    });
            taken.put(sent, future);
            return future;
        } catch (RuntimeException refused) {
            sent.onFailed(false, refused);
            throw refused;
        }
    }

    /** Call it after {@code close}: all are acknowledged, and nothing else is there. */
    public void assertAllThere(Map<String, Object> client) throws Exception {
        LedgerVerdict verdict = assertAsTold(client);
        assertThat(verdict.acknowledged()).as(verdict.toString()).isEqualTo(taken.size());
    }

    /** Call it after {@code close}: as above, but records may have failed; a failed record may be there or not. */
    public LedgerVerdict assertAsTold(Map<String, Object> client) throws Exception {
        for (Map.Entry<SentRecord, Future<RecordMetadata>> each : taken.entrySet()) {
            assertThat(each.getValue()).as("the future of %s", each.getKey()).isDone();
            try {
                each.getKey().onFutureAcknowledged(each.getValue().get());
            } catch (ExecutionException e) {
                each.getKey().onFutureFailed();
            }
        }
        LedgerVerdict verdict = ledger.judge(client, Map.of(topic, TopicTerms.kept()), List.of(topic));
        assertThat(verdict.isClean()).as(verdict.toString()).isTrue();
        return verdict;
    }
}
