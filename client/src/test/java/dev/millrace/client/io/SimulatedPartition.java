package dev.millrace.client.io;

import dev.millrace.kafka.common.record.internal.Record;
import dev.millrace.kafka.common.record.internal.RecordBatch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;

/**
 * The log of a simulated partition, and what its leader remembers of the producers (KIP-98, KIP-360). What is not
 * acknowledged may be lost with the leader, and then its successor remembers only what its own log has.
 */
final class SimulatedPartition {
    private static final int REMEMBERED_BATCHES = 5;
    private static final long LONGEST_RETRY_MS = 5_000;

    /** The values in the order of offsets. */
    final List<Long> log = new ArrayList<>();

    /** Everything that was ever written, what was lost since included. */
    final Set<Written> written = new HashSet<>();

    private final List<Long> timestamps = new ArrayList<>();
    private final List<State> beforeBatches = new ArrayList<>();
    private Map<Long, Producer> producers = Map.of();

    /** How many of the batches are on all replicas. */
    private int replicated;

    /** Whether no replica will copy what is written from now on. */
    private boolean isFork;

    private long keepUntilMs;
    private int askedNode;
    int leader;
    int leaderEpoch;
    private final CommittedLog transactions = new CommittedLog();

    SimulatedPartition(int leader) {
        this.leader = leader;
    }

    /** The same as its leader knows it: it goes on alone with a log that nobody copies. */
    SimulatedPartition fork() {
        SimulatedPartition fork = new SimulatedPartition(leader);
        fork.leaderEpoch = leaderEpoch;
        fork.log.addAll(log);
        fork.timestamps.addAll(timestamps);
        fork.beforeBatches.addAll(beforeBatches);
        fork.producers = producers;
        fork.keepUntilMs = keepUntilMs;
        fork.replicated = batches();
        fork.isFork = true;
        return fork;
    }

    /** A record and where it was, and with which timestamp. */
    record Written(long offset, long value, long timestamp) {}

    record Appended(int firstSequence, int lastSequence, long offset) {}

    /** What a broker knows of a producer: of its last batches, and the newest timestamp of the last one. */
    record Producer(short epoch, int lastSequence, long maxTimestamp, List<Appended> remembered) {
        Producer after(RecordBatch batch, long offset, long maxTimestamp) {
            List<Appended> newest = new ArrayList<>(batch.producerEpoch() == epoch ? remembered : List.of());
            newest.add(new Appended(batch.baseSequence(), batch.lastSequence(), offset));
            if (newest.size() > REMEMBERED_BATCHES) {
                newest.remove(0);
            }
            return new Producer(batch.producerEpoch(), batch.lastSequence(), maxTimestamp, newest);
        }

        Producer afterMarker(short newEpoch, long nowMs) {
            boolean isNewEpoch = newEpoch > epoch;
            return new Producer(
                    isNewEpoch ? newEpoch : epoch,
                    isNewEpoch ? -1 : lastSequence,
                    nowMs,
                    isNewEpoch ? List.of() : remembered);
        }
    }

    private record State(int end, Map<Long, Producer> producers) {}

    /** Null if the batch may be appended, or if it was before: then {@code offset[0]} is where. */
    ApiException checkSequence(RecordBatch batch, long[] offset) {
        Producer known = producers.get(batch.producerId());
        if (known == null) {
            return null; // a producer it does not know: any sequence is taken, which is what makes KAFKA-15591 possible
        }
        if (batch.producerEpoch() < known.epoch) {
            return new InvalidProducerEpochException("older epoch");
        }
        if (batch.producerEpoch() > known.epoch) {
            return batch.baseSequence() == 0 ? null : new OutOfOrderSequenceException("a new epoch starts at 0");
        }
        for (Appended before : known.remembered) {
            if (before.firstSequence == batch.baseSequence() && before.lastSequence == batch.lastSequence()) {
                offset[0] = before.offset;
                return null;
            }
        }
        if (batch.baseSequence() == ((known.lastSequence + 1) & Integer.MAX_VALUE)) {
            return null;
        }
        return new OutOfOrderSequenceException(known.lastSequence + " then " + batch.baseSequence());
    }

    /** A transaction's marker; with the newer protocol it has the next epoch already. */
    void end(ProducerId id, boolean commit, long nowMs) {
        beforeBatches.add(new State(log.size(), producers));
        transactions.mark(id.id(), id.epoch(), commit);
        Map<Long, Producer> next = new HashMap<>(producers);
        next.computeIfPresent(id.id(), (unused, known) -> known.afterMarker(id.epoch(), nowMs));
        producers = next;
    }

    /** Whether the producer has a transaction of this epoch here that no marker has ended. */
    boolean isOpen(RecordBatch batch) {
        return transactions.isOpen(batch.producerId(), batch.producerEpoch());
    }

    /** What a reader of committed records sees. */
    List<Long> committed() {
        return transactions.committed(replicated);
    }

    /** As if so many records had been written before. */
    void expect(int sequence) {
        replaceProducers(known -> new Producer(known.epoch, sequence - 1, known.maxTimestamp, List.of()));
    }

    /** Null if the broker knows nothing of it. It does not look which are expired until a retry must have come. */
    Producer describe(long id, long nowMs) {
        keepUntilMs = nowMs + LONGEST_RETRY_MS;
        askedNode = leader;
        return producers.get(id);
    }

    /**
     * Whether this broker cannot lead yet: one that was asked and then lost the leadership has to copy what it lacks
     * before it leads again, and a retry that relies on its answer comes earlier, and is refused.
     */
    boolean isToFollow(int node, long nowMs) {
        return node == askedNode && nowMs < keepUntilMs;
    }

    /** The broker looks which producers have written nothing that is younger, and have no transaction open here. */
    void forgetExpired(long nowMs, long expirationMs) {
        if (nowMs < keepUntilMs) {
            return;
        }
        Map<Long, Producer> next = new HashMap<>(producers);
        next.entrySet()
                .removeIf(known -> nowMs - known.getValue().maxTimestamp >= expirationMs
                        && !transactions.isOpen(known.getKey(), known.getValue().epoch));
        producers = next;
    }

    /** The leader stops and starts again without a loss; its snapshot has the last batch of each producer. */
    void restart() {
        replaceProducers(known -> new Producer(
                known.epoch,
                known.lastSequence,
                known.maxTimestamp,
                known.remembered.subList(Math.max(0, known.remembered.size() - 1), known.remembered.size())));
        lead(leader);
    }

    private void replaceProducers(UnaryOperator<Producer> change) {
        Map<Long, Producer> next = new HashMap<>(producers);
        next.replaceAll((id, known) -> change.apply(known));
        producers = next;
    }

    /** {@code logAppendTime} is -1 if records keep their timestamps. */
    long append(RecordBatch batch, long logAppendTime) {
        beforeBatches.add(new State(log.size(), producers));
        long baseOffset = log.size();
        for (Record record : batch) {
            long timestamp = logAppendTime < 0 ? record.timestamp() : logAppendTime;
            written.add(new Written(log.size(), record.value().getLong(), timestamp));
            log.add(record.value().getLong());
            timestamps.add(timestamp);
        }
        transactions.append(batch, log.subList((int) baseOffset, log.size()));
        if (batch.hasProducerId()) {
            Map<Long, Producer> next = new HashMap<>(producers);
            Producer known = producers.getOrDefault(batch.producerId(), new Producer((short) -1, -1, -1, List.of()));
            long newest = logAppendTime < 0 ? batch.maxTimestamp() : logAppendTime;
            next.put(batch.producerId(), known.after(batch, baseOffset, newest));
            producers = next;
        }
        return baseOffset;
    }

    long timestampAt(long offset) {
        return timestamps.get((int) offset);
    }

    /** The records from this offset on. */
    List<Written> recordsAt(long offset, int count) {
        List<Written> records = new ArrayList<>();
        for (int i = (int) offset; i < offset + count; i++) {
            records.add(new Written(i, log.get(i), timestamps.get(i)));
        }
        return records;
    }

    /** All replicas have everything: from now on it may be acknowledged. */
    void replicate() {
        if (!isFork) {
            replicated = beforeBatches.size();
        }
    }

    /** So many of the batches are on all replicas. */
    void acknowledgeNoMoreThan(int batches) {
        replicated = Math.min(replicated, batches);
    }

    boolean isFork() {
        return isFork;
    }

    /** How many batches there are. */
    int batches() {
        return beforeBatches.size();
    }

    /** Whether all replicas have the record at this offset. */
    boolean isReplicated(long offset) {
        return replicated == beforeBatches.size() || offset < beforeBatches.get(replicated).end;
    }

    /**
     * Another broker leads. It has what was replicated, and perhaps some of the rest.
     *
     * @param mayLose how many of the replicated batches it may lack: an unclean election, unless 0
     */
    void elect(int node, Random random, int mayLose) {
        int least = Math.max(0, replicated - mayLose);
        int kept = least + random.nextInt(beforeBatches.size() - least + 1);
        if (kept < beforeBatches.size()) {
            State last = beforeBatches.get(kept);
            log.subList(last.end, log.size()).clear();
            timestamps.subList(last.end, timestamps.size()).clear();
            beforeBatches.subList(kept, beforeBatches.size()).clear();
            transactions.truncate(kept);
            producers = last.producers;
        }
        lead(node);
        replicate();
    }

    /** Another broker leads, and lacks nothing. */
    void lead(int node) {
        leader = node;
        leaderEpoch++;
    }
}
