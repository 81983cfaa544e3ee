package dev.millrace.client.io;

import dev.millrace.kafka.common.record.internal.RecordBatch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.ConcurrentTransactionsException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.UnsupportedVersionException;

/**
 * The coordinator of one transactional id. It checks id, epoch and state as Kafka's does, by either version of the
 * protocol (KIP-98, KIP-890), writes the markers of a transaction's end one after the other, some of them late, and
 * aborts what takes too long.
 */
final class SimulatedCoordinator {
    private static final int GROUP = -1;

    private final SimulatedCluster cluster;
    private final Random random;
    private final boolean explicit;
    private final Set<Integer> added = new HashSet<>();
    private final Map<TopicPartition, OffsetAndMetadata> pendingOffsets = new HashMap<>();
    private final List<Marker> markers = new ArrayList<>();

    /** What consumers of the group would start from. */
    final Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();

    /** Whether a producer may ask for its next epoch; coordinators before Kafka 2.5 do not understand that. */
    boolean givesNewEpochs = true;

    /** A transaction that is open for longer is aborted. */
    long timeoutMs = Long.MAX_VALUE;

    /** How many transactions have been aborted because they took too long. */
    int timeouts;

    private State state = State.EMPTY;
    private ProducerId current = ProducerId.UNKNOWN;

    /** The id before {@link #current}, whose owner may have asked for that and not got the answer; else null. */
    private ProducerId previous;

    private boolean isLastCommitted;
    private long begunMs;

    private enum State {
        EMPTY,
        ONGOING,
        /** The end is decided, and not all of its markers are written. */
        ENDING,
        ENDED
    }

    /** A marker to be written to a partition. */
    private static final class Marker {
        final int partition;
        final long notBeforeMs;
        int writtenInEpoch = -1;

        Marker(int partition, long notBeforeMs) {
            this.partition = partition;
            this.notBeforeMs = notBeforeMs;
        }
    }

    SimulatedCoordinator(SimulatedCluster cluster, Random random, boolean explicit) {
        this.cluster = cluster;
        this.random = random;
        this.explicit = explicit;
    }

    boolean isExplicit() {
        return explicit;
    }

    /** Whether a transaction is open. */
    boolean isOngoing() {
        return state == State.ONGOING;
    }

    /** Whether the end of a transaction is decided, and readers may not know of it yet. */
    boolean isEnding() {
        return state == State.ENDING;
    }

    /** The epoch that it expects next. */
    short epoch() {
        return current.epoch();
    }

    /** What a partition's leader asks before it appends: null if the batch may be written. */
    ApiException check(int partition, RecordBatch batch) {
        if (!batch.isTransactional()) {
            return new InvalidTxnStateException("not in a transaction");
        }
        if (cluster.topic.partitions().get(partition).isOpen(batch)) {
            return null; // it knows that the transaction is open
        }
        if (batch.producerId() != current.id() || batch.producerEpoch() != current.epoch()) {
            return new InvalidProducerEpochException("of another epoch");
        }
        if (isEnding()) {
            return new ConcurrentTransactionsException("the last one is not quite over");
        }
        if (explicit) {
            return isOngoing() && added.contains(partition) ? null : new InvalidTxnStateException("not added");
        }
        add(partition);
        return null;
    }

    // ---- what it is asked for ----

    ProducerId init(ProducerId known) {
        if (known.isKnown() && !givesNewEpochs) {
            throw new UnsupportedVersionException("no version of the request has a field for the id");
        }
        if (known.isKnown() && !known.isSameEpochAs(current) && !isRetryOf(known)) {
            throw new ProducerFencedException("of another epoch");
        }
        throwWhileEnding();
        if (isOngoing()) {
            fence();
            throw new ConcurrentTransactionsException("its transaction is aborted first");
        }
        if (isRetryOf(known)) {
            return current;
        }
        previous = known.isKnown() ? current : null;
        current = current.isKnown() ? current.bumped() : new ProducerId(5000, (short) 0);
        state = State.EMPTY;
        return current;
    }

    private boolean isRetryOf(ProducerId id) {
        return previous != null && id.isSameEpochAs(previous);
    }

    /** Adds partitions or, with {@link #GROUP}, the group. */
    void addAll(ProducerId id, List<Integer> partitions) {
        throwUnlessCurrent(id);
        throwWhileEnding();
        partitions.forEach(this::add);
    }

    void addGroup(ProducerId id) {
        addAll(id, List.of(GROUP));
    }

    void addNothingOf(ProducerId id) {
        throwUnlessCurrent(id);
        throwWhileEnding();
    }

    private void add(int partition) {
        if (!isOngoing()) {
            state = State.ONGOING;
            begunMs = cluster.nowMs();
        }
        added.add(partition);
    }

    void commitOffsets(ProducerId id, Map<TopicPartition, OffsetAndMetadata> given) {
        throwUnlessCurrent(id);
        throwWhileEnding();
        if (!explicit) {
            add(GROUP);
        } else if (!added.contains(GROUP)) {
            throw new InvalidTxnStateException("group not added");
        }
        pendingOffsets.putAll(given);
    }

    ProducerId end(ProducerId id, boolean commit) {
        if (explicit) {
            throwUnlessCurrent(id);
        }
        throwWhileEnding();
        boolean isRepeated = state == State.ENDED && (explicit || isRetryOf(id));
        if (!isRepeated) {
            throwUnlessCurrent(id);
        } else if (commit == isLastCommitted) {
            return current; // it was done, and the answer lost
        }
        boolean isEmptyAbort = !explicit && !commit && !isRepeated;
        if (!isOngoing() && !isEmptyAbort) {
            throw new InvalidTxnStateException("there is no such transaction to end: " + state);
        }
        finish(commit, explicit ? current : current.bumped());
        return current;
    }

    private void throwUnlessCurrent(ProducerId id) {
        if (!id.isSameEpochAs(current)) {
            throw new ProducerFencedException("of another epoch");
        }
    }

    private void throwWhileEnding() {
        if (isEnding()) {
            throw new ConcurrentTransactionsException("the last one is not quite over");
        }
    }

    // ---- what it does by itself ----

    /** Aborts the open transaction, whose producer can do nothing more. */
    private void fence() {
        ProducerId fenced = current.bumped();
        finish(false, explicit ? fenced : fenced.bumped());
        previous = null;
    }

    private void finish(boolean commit, ProducerId next) {
        previous = explicit ? null : current;
        current = next;
        isLastCommitted = commit;
        state = State.ENDING;
        for (int partition : added) {
            boolean isLate = cluster.fault() && random.nextInt(4) == 0;
            markers.add(new Marker(partition, cluster.nowMs() + (isLate ? random.nextInt(2_000) : 0)));
        }
        added.clear();
        if (markers.isEmpty()) {
            state = State.ENDED;
        }
    }

    /** Time passes, and one marker may get further. */
    void step() {
        if (isOngoing() && cluster.nowMs() - begunMs > timeoutMs) {
            timeouts++;
            fence();
        }
        if (markers.isEmpty()) {
            return;
        }
        Marker marker = markers.get(random.nextInt(markers.size()));
        if (cluster.nowMs() >= marker.notBeforeMs && !cluster.fault() && isWritten(marker)) {
            markers.remove(marker);
            state = markers.isEmpty() ? State.ENDED : state;
        }
    }

    /** First the leader writes it, then the replicas have it; if the leader has moved meanwhile, it is written again. */
    private boolean isWritten(Marker marker) {
        if (marker.partition == GROUP) {
            if (isLastCommitted) {
                offsets.putAll(pendingOffsets);
            }
            pendingOffsets.clear();
            return true;
        }
        SimulatedPartition partition = cluster.topic.partitions().get(marker.partition);
        if (marker.writtenInEpoch != partition.leaderEpoch) {
            partition.end(current, isLastCommitted, cluster.nowMs());
            marker.writtenInEpoch = partition.leaderEpoch;
            return false;
        }
        partition.replicate();
        return true;
    }
}
