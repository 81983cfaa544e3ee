package dev.millrace.client.io;

import dev.millrace.kafka.common.record.internal.Record;
import dev.millrace.kafka.common.record.internal.RecordBatch;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;

/** The log of a simulated partition, and what its leader remembers of the producer (KIP-98, KIP-360). */
final class SimulatedPartition {
    private static final int REMEMBERED_BATCHES = 5;

    final List<Long> log = new ArrayList<>();
    int leader;
    int leaderEpoch;
    private long producerId = -1;
    private short producerEpoch = -1;
    private int lastSequence = -1;
    private final List<Long> open = new ArrayList<>();

    /** The values of transactions that were committed, as a reader of committed records sees them. */
    final List<Long> committed = new ArrayList<>();

    private final ArrayDeque<long[]> remembered = new ArrayDeque<>(); // first sequence, last sequence, base offset

    SimulatedPartition(int leader) {
        this.leader = leader;
    }

    /** Null if the batch may be appended, or if it was before: then {@code offset[0]} is where. */
    ApiException checkSequence(RecordBatch batch, long[] offset) {
        if (batch.producerId() != producerId) {
            return null; // a producer it does not know: any sequence is taken, which is what makes KAFKA-15591 possible
        }
        if (batch.producerEpoch() < producerEpoch) {
            return new InvalidProducerEpochException("older epoch");
        }
        if (batch.producerEpoch() > producerEpoch) {
            return batch.baseSequence() == 0 ? null : new OutOfOrderSequenceException("a new epoch starts at 0");
        }
        for (long[] known : remembered) {
            if (known[0] == batch.baseSequence() && known[1] == batch.lastSequence()) {
                offset[0] = known[2];
                return null;
            }
        }
        if (batch.baseSequence() == ((lastSequence + 1) & Integer.MAX_VALUE)) {
            return null;
        }
        return new OutOfOrderSequenceException(lastSequence + " then " + batch.baseSequence());
    }

    /** A transaction's marker; with the newer protocol it has the next epoch already. */
    void end(boolean commit, short epoch) {
        if (commit) {
            committed.addAll(open);
        }
        open.clear();
        if (epoch > producerEpoch) {
            producerEpoch = epoch;
            lastSequence = -1;
            remembered.clear();
        }
    }

    /** As if so many records had been written before. */
    void expect(int sequence) {
        lastSequence = sequence - 1;
        remembered.clear();
    }

    long append(RecordBatch batch) {
        if (batch.producerId() != producerId || batch.producerEpoch() != producerEpoch) {
            remembered.clear();
            producerId = batch.producerId();
            producerEpoch = batch.producerEpoch();
        }
        long baseOffset = log.size();
        for (Record record : batch) {
            log.add(record.value().getLong());
        }
        if (batch.isTransactional()) {
            open.addAll(log.subList((int) baseOffset, log.size()));
        }
        lastSequence = batch.lastSequence();
        remembered.addLast(new long[] {batch.baseSequence(), batch.lastSequence(), baseOffset});
        if (remembered.size() > REMEMBERED_BATCHES) {
            remembered.removeFirst();
        }
        return baseOffset;
    }
}
