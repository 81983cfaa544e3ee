package dev.millrace.testkit.oracle;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * What one consumer reads of committed transactions while producers send. A {@link TransactionLedger} makes it and judges
 * it.
 *
 * <p><b>Threads:</b> one adds; the ledger's judge asks after that.
 */
public final class CommittedReads {
    private final TransactionLedger ledger;
    private final Map<TopicPartition, List<Position>> positions = new HashMap<>();
    private final List<String> dirty = new ArrayList<>();

    CommittedReads(TransactionLedger ledger) {
        this.ledger = ledger;
    }

    /** What is at an offset; the stamp is null if it is none. */
    record Position(long offset, Stamp stamp) {
        static Position of(ConsumerRecord<byte[], byte[]> read) {
            try {
                return new Position(read.offset(), Stamp.decode(read.value()));
            } catch (IllegalArgumentException e) {
                return new Position(read.offset(), null);
            }
        }
    }

    /** The next record of a partition. Call it as soon as the consumer has returned the record. */
    public void add(ConsumerRecord<byte[], byte[]> read) {
        Position position = Position.of(read);
        positions
                .computeIfAbsent(new TopicPartition(read.topic(), read.partition()), unused -> new ArrayList<>())
                .add(position);
        SentTransaction transaction = position.stamp == null ? null : ledger.transactionOrNull(position.stamp);
        if (transaction != null && !transaction.mayBeVisible()) {
            dirty.add(position + ", read at " + ledger.nowMs() + " ms: " + transaction);
        }
    }

    /** In the order of reading. */
    Map<TopicPartition, List<Position>> positions() {
        return positions;
    }

    /** Records that could be read before anybody had asked to commit them. */
    List<String> dirty() {
        return dirty;
    }
}
