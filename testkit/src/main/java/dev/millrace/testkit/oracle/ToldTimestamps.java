package dev.millrace.testkit.oracle;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Tells whether there is a reason for timestamps of one partition that were told later than they are. There is one:
 * a broker answers a batch that it has already, because an earlier answer was lost, with the latest timestamp in it, as if
 * it had set that. Then all records of the batch are told this timestamp, their offsets follow each other, and one of the
 * records has it. For one thread.
 */
final class ToldTimestamps {
    private final List<Later> unexplained = new ArrayList<>();

    /** Of the present batch, which has ended if the next record has another told timestamp or does not follow. */
    private final List<Later> later = new ArrayList<>();

    private long told;
    private long nextOffset = -1;
    private boolean hasRecordOfIt;
    private long explained;

    /** A record that was told a later timestamp than it has. */
    record Later(SentRecord sent, ConsumerRecord<byte[], byte[]> read) {}

    /** The next record of the partition, which was told with the offset that it has, and no earlier a timestamp. */
    void add(SentRecord sent, ConsumerRecord<byte[], byte[]> read) {
        if (sent.place().timestamp() != told || read.offset() != nextOffset) {
            endBatch();
            told = sent.place().timestamp();
        }
        nextOffset = read.offset() + 1;
        if (read.timestamp() == told) {
            hasRecordOfIt = true;
        } else {
            later.add(new Later(sent, read));
        }
    }

    private void endBatch() {
        if (hasRecordOfIt) {
            explained += later.size();
        } else {
            unexplained.addAll(later);
        }
        later.clear();
        hasRecordOfIt = false;
    }

    /** Call it when all records are added. */
    void end() {
        endBatch();
    }

    /** How many later timestamps have that reason. */
    long explained() {
        return explained;
    }

    /** Those that have not. */
    List<Later> unexplained() {
        return unexplained;
    }
}
