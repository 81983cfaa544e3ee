package dev.millrace.client.io;

import dev.millrace.client.accumulator.FailureLog;
import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.accumulator.PartitionQueue;
import dev.millrace.client.accumulator.SealCause;
import dev.millrace.client.accumulator.SequenceStart;
import dev.millrace.client.accumulator.Withdrawal;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.kafka.common.Uuid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the I/O thread knows of one partition: the batches taken from its queue and not done, the next sequence, and
 * whether more may be sent.
 *
 * <p>{@code outstanding} holds, in the order of their sequences, the batches in flight, those to be sent (again), and
 * those whose outcome is known while an earlier one's is not. After an error only the first of them is sent, alone,
 * until the current leader has accepted it; see {@link LeaderState}.
 *
 * <p><b>Threads:</b> the partition's I/O thread. The methods below "transactions" are shared with the first I/O thread:
 * the partition's own thread calls {@link #markWanted} and {@link #addedIn}, the first one {@link #isWantedIn} and
 * {@link #markAdded}.
 * <p><b>Ordering:</b> {@code wantedIn} and {@code addedIn} are volatile, each written by one thread. {@code wantedIn}
 * is written before the partition is added to the queue of {@link TransactionPartitions}; {@code addedIn} before the
 * partition is handed over to its own thread again.
 */
final class PartitionState {
    private static final Logger log = LoggerFactory.getLogger(PartitionState.class);

    private final PartitionQueue queue;
    private final SenderMetrics metrics;
    private final boolean idempotent;
    private final TransactionShare transactions;
    private final LeaderState leader;
    private final OutstandingBatches outstanding = new OutstandingBatches();
    private final GivenSequences given;

    /** Where it waits; changed by {@link PartitionPlaces} alone. */
    Place place = Place.NOWHERE;

    /** When it leaves that place at the latest, if it lingers or backs off. */
    final Deadlines.Deadline revisit = new Deadlines.Deadline(this);

    final Deadlines.Deadline expiring = new Deadlines.Deadline(this);

    /** Set by {@link Drainer}: whether it has changed, and is about to be visited. */
    boolean isChanged;

    /** Under way. */
    private final List<Withdrawal> withdrawals = new ArrayList<>(0);

    private int inFlight;

    private ProducerId producerId = ProducerId.NONE;
    private int nextSequence;
    private int nextAcknowledged;

    private volatile long wantedIn;
    private volatile long addedIn;

    /** Whether a batch was written will never be known: no new sequences until it is clear whether there is a gap. */
    private boolean unresolved;

    /** The broker expects a sequence that will never come: take a new epoch when nothing is in flight. */
    private boolean needsNewEpoch;

    PartitionState(
            PartitionQueue queue, SenderSettings settings, SenderMetrics metrics, TransactionShare transactions) {
        this.transactions = transactions;
        this.queue = queue;
        this.given = new GivenSequences(queue);
        this.metrics = metrics;
        this.idempotent = settings.idempotent();
        this.leader = new LeaderState(settings.maxInFlight());
    }

    // ---- transactions: wanted by its own thread, added by the first I/O thread ----

    /** Marks the partition as to be added to this transaction; false if it was marked before. */
    boolean markWanted(long transaction) {
        boolean isNew = wantedIn != transaction;
        wantedIn = transaction;
        return isNew;
    }

    boolean isWantedIn(long transaction) {
        return wantedIn == transaction;
    }

    void markAdded(long transaction) {
        addedIn = transaction;
    }

    /** The last transaction to which it was added. */
    long addedIn() {
        return addedIn;
    }

    /**
     * Whether batches after a gap in the sequences may be sent with a new epoch: not if they belong to a transaction, or
     * the application numbers them.
     */
    boolean canTakeNewEpoch() {
        return !transactions.isTransactional() && !given.areUsed();
    }

    PartitionQueue queue() {
        return queue;
    }

    String topic() {
        return queue.partition().topic();
    }

    int partition() {
        return queue.partition().partition();
    }

    /** Notes the topic id and leader epoch of the current image. */
    void updateLeader(Uuid topicId, int leaderEpoch) {
        leader.update(topicId, leaderEpoch);
    }

    // ---- what to send ----

    /** The finished batch to send next to broker {@code node}, or null if there is none or it must wait. */
    FinishedBatch candidate(int node, long nowMs) {
        if (isBlocked(node, nowMs)) {
            return null;
        }
        FinishedBatch again = outstanding.firstToSendAgain();
        if (again != null) {
            return again;
        }
        FinishedBatch first = unresolved ? null : queue.peek();
        return first == null || first.isUnwritable() ? null : first;
    }

    /** Whether the open batch would be {@link #candidate} if it were sealed now. */
    boolean isOpenBatchNext(int node, long nowMs) {
        return !isBlocked(node, nowMs)
                && !unresolved
                && queue.hasRecords()
                && queue.isOldestOpen()
                && outstanding.firstToSendAgain() == null;
    }

    private boolean isBlocked(int node, long nowMs) {
        boolean isOfBefore = given.areNew() && !outstanding.isEmpty(); // what expired in flight has the former numbers
        return needsNewEpoch || isOfBefore || leader.isBlocked(node, inFlight, nowMs);
    }

    /** Marks {@link #candidate} as in flight to {@code node}, and gives it a sequence unless it has one. */
    void markInFlight(FinishedBatch batch, int node, ProducerId newest) {
        leader.updateNode(node);
        stampAndMoveIfNew(batch, newest);
        batch.markSent(leader.term());
        inFlight++;
    }

    /** Splits {@link #candidate}, which has more than one record, because no request may be that large. */
    void splitUnsent(FinishedBatch batch, ProducerId newest) {
        stampAndMoveIfNew(batch, newest);
        replaceByParts(batch);
    }

    private void stampAndMoveIfNew(FinishedBatch batch, ProducerId newest) {
        if (batch == queue.peek()) {
            stamp(batch, newest);
            moveToOutstanding(batch);
        }
    }

    /** Adds before it removes: if memory is lacking, the batch is still in the queue, and its records are not lost. */
    private void moveToOutstanding(FinishedBatch batch) {
        outstanding.addLast(batch); // may lack memory
        queue.take();
    }

    private void stamp(FinishedBatch batch, ProducerId newest) {
        if (!idempotent) {
            batch.stamp(ProducerId.NONE.id(), ProducerId.NONE.epoch(), FinishedBatch.NO_SEQUENCE);
            return;
        }
        if (given.areNew()) {
            goOnFrom(given.apply());
        } else if (outstanding.isEmpty() && !given.areUsed() && !newest.equals(producerId)) {
            restartSequences(newest);
        }
        stamp(batch, nextSequence);
        nextSequence = sequenceAfter(nextSequence, batch.count());
    }

    private void goOnFrom(SequenceStart start) {
        producerId = new ProducerId(start.producerId(), start.epoch());
        nextSequence = start.sequence();
        nextAcknowledged = start.sequence();
        leader.requireAcceptance();
    }

    private void stamp(FinishedBatch batch, int sequence) {
        if (transactions.isTransactional()) {
            batch.setTransactional();
        }
        batch.stamp(producerId.id(), producerId.epoch(), sequence);
    }

    /** Before this time nothing is sent to the leader that refused a batch. */
    long notBeforeMs() {
        return leader.notBeforeMs();
    }

    // ---- what came back ----

    /** The batch's request is answered or lost; {@code nothingWritten} as in {@link FinishedBatch#onRequestEnded}. */
    void onRequestEnded(FinishedBatch batch, boolean nothingWritten) {
        batch.onRequestEnded(nothingWritten);
        inFlight--;
    }

    /** The broker has the batch. Call this before the batch is decided. */
    void onAccepted(FinishedBatch batch) {
        if (isFirstUndecided(batch)) {
            leader.onAccepted(batch.sentInTerm());
        }
        if (idempotent && !outstanding.isLaterAccepted(batch)) {
            nextAcknowledged = sequenceAfter(batch.sequence(), batch.count());
        }
    }

    /** A batch was refused, and will be sent again, alone, but not before {@code backoffUntilMs}. */
    void backOffUntil(long backoffUntilMs) {
        leader.backOffUntil(backoffUntilMs);
    }

    /** The broker found the batch too large. */
    void splitTooLarge(FinishedBatch batch) {
        leader.requireAcceptance();
        replaceByParts(batch);
    }

    /** Smaller batches take the place of this one and its sequences. */
    private void replaceByParts(FinishedBatch batch) {
        batch.splitIntoParts(parts -> {
            int sequence = batch.sequence();
            for (FinishedBatch part : parts) {
                stamp(part, sequence);
                sequence = idempotent ? sequenceAfter(sequence, part.count()) : FinishedBatch.NO_SEQUENCE;
            }
            outstanding.replace(batch, parts);
        });
    }

    /**
     * The batch failed and is not sent again. It may have been written nevertheless, or its sequence may be missing.
     */
    void onFailed(FinishedBatch batch, RuntimeException cause) {
        leader.requireAcceptance();
        noteGap(batch.sequence() != FinishedBatch.NO_SEQUENCE, cause);
    }

    private void noteGap(boolean hasSequence, RuntimeException cause) {
        if (given.areUsed()) {
            given.onFailed(cause);
        } else {
            unresolved |= idempotent && hasSequence;
        }
    }

    /**
     * The broker did not expect this batch's sequence. If no earlier batch can still reach it, it expects one that will
     * never come. Then neither this batch nor any later one was written, so they can be sent with a new epoch.
     */
    void onUnexpectedSequence(FinishedBatch batch) {
        needsNewEpoch |= isFirstUndecided(batch);
    }

    /** Whether the broker has accepted a later batch: then it has this one too, and has only forgotten its offset. */
    boolean isLaterBatchAccepted(FinishedBatch batch) {
        return outstanding.isLaterAccepted(batch);
    }

    /** Whether every earlier batch has an outcome. */
    boolean isFirstUndecided(FinishedBatch batch) {
        return outstanding.isFirstUndecided(batch);
    }

    /**
     * Runs callbacks and completes futures of every batch that is decided; with idempotence none before an earlier one.
     * Memory is given back at once, unless the batch is still in flight.
     */
    void deliverDecided() {
        boolean blocked = false;
        for (Iterator<FinishedBatch> it = outstanding.iterator(); it.hasNext(); ) {
            FinishedBatch batch = it.next();
            blocked |= idempotent && !batch.isDecided();
            if (batch.isDecided() && !batch.isInFlight()) {
                batch.release();
            }
            if (batch.isDecided() && !blocked) {
                if (!batch.isDelivered()) {
                    deliver(batch);
                }
                if (!batch.isInFlight()) {
                    it.remove();
                }
            }
        }
    }

    private void deliver(FinishedBatch batch) {
        if (!batch.isAccepted()) {
            transactions.onFailed(batch);
            if (batch.isCounted()) {
                countFailed(batch);
            }
        }
        batch.deliver();
    }

    private void countFailed(FinishedBatch batch) {
        try {
            metrics.onFailed(batch);
        } catch (Throwable t) { // for example of the application's metrics reporter; the records need their outcome
            FailureLog.error(log, "Counting the failed records of {} failed", batch.partition(), t);
        }
    }

    /** When nothing is in flight: closes a gap in the sequences by a new epoch, or finds that there is none. */
    void closeSequenceGap(ProducerIds ids) {
        if (!idempotent || inFlight > 0 || given.areUsed()) {
            return;
        }
        if (unresolved && outstanding.isEmpty()) {
            unresolved = false;
            needsNewEpoch |= nextAcknowledged != nextSequence;
        }
        if (needsNewEpoch) {
            ProducerId newest = ids.current();
            if (newest.equals(producerId) && !transactions.isTransactional()) { // a transaction gets one when it ends
                ids.bumpEpoch(newest);
                newest = ids.current();
            }
            if (newest.isKnown() && !newest.equals(producerId)) {
                restartSequences(newest);
            }
        }
    }

    /** From 0 in a new epoch; in the same one, from what the broker expects. */
    private void restartSequences(ProducerId next) {
        if (!next.isSameEpochAs(producerId)) {
            nextAcknowledged = 0;
        }
        producerId = next;
        nextSequence = nextAcknowledged;
        needsNewEpoch = false;
        unresolved = false;
        leader.requireAcceptance();
        for (FinishedBatch batch : outstanding) {
            if (!batch.isDecided()) {
                stamp(batch, nextSequence);
                nextSequence = sequenceAfter(nextSequence, batch.count());
            }
        }
    }

    // ---- what takes too long ----

    boolean isIdle() {
        return outstanding.isEmpty() && !queue.hasRecords();
    }

    /** When the oldest batch without an outcome was opened; only while not {@link #isIdle}. */
    long oldestCreatedMs() {
        FinishedBatch first = outstanding.firstUndecided();
        if (first != null) {
            return first.createdMs();
        }
        return queue.hasRecords() ? queue.oldestCreatedMs() : Long.MAX_VALUE;
    }

    /** Fails every batch opened before {@code createdBeforeMs}, the oldest first. Deliver them afterwards. */
    void failOpenedBefore(long createdBeforeMs, Failure reason) {
        for (FinishedBatch batch : outstanding) {
            if (!batch.isDecided() && batch.createdMs() < createdBeforeMs) {
                RuntimeException cause = reason.of(batch);
                noteGap(true, cause); // its sequence was sent, or a later part's was
                fail(batch, cause, reason.isCounted());
            }
        }
        failUnsent(createdBeforeMs, reason);
    }

    /** As {@link #failOpenedBefore}, but only batches without a sequence. */
    void failUnsent(long createdBeforeMs, Failure reason) {
        while (queue.hasRecords() && queue.oldestCreatedMs() < createdBeforeMs) {
            queue.sealOldest(SealCause.FAILURE);
            FinishedBatch batch = queue.peek();
            if (batch == null) {
                return; // a writer is about to commit, and will then hand over the partition
            }
            takeToFail(batch, batch.isUnwritable() ? batch.failure() : reason.of(batch), reason.isCounted());
        }
    }

    /** Fails finished batches that must not be sent because they could not be written. */
    void failUnwritable() {
        for (FinishedBatch batch = queue.peek(); batch != null && batch.isUnwritable(); batch = queue.peek()) {
            takeToFail(batch, batch.failure(), true);
        }
    }

    /** Fails what is not in flight after a batch with given sequences has failed: the broker expects that one. */
    void failAfterGap() {
        RuntimeException cause = given.failureOrNull();
        if (cause != null) {
            failNotInFlight(cause);
        }
    }

    /** Fails what the application has withdrawn; what is in flight is told not to be sent again. */
    void failWithdrawn() {
        Withdrawal asked = queue.takeWithdrawal();
        if (asked == null) {
            return;
        }
        withdrawals.add(asked);
        for (FinishedBatch batch : outstanding) {
            if (batch.isInFlight()) {
                batch.withdraw(asked.cause());
            }
        }
        failNotInFlight(asked.cause());
    }

    private void failNotInFlight(RuntimeException cause) {
        for (FinishedBatch batch : outstanding) {
            if (!batch.isDecided() && !batch.isInFlight()) {
                noteGap(true, cause);
                batch.decide(-1, -1, cause);
            }
        }
        failUnsent(Long.MAX_VALUE, batch -> cause);
    }

    /** Tells the application when what it has withdrawn can no longer be written. */
    void completeWithdrawals() {
        if (inFlight == 0) {
            withdrawals.forEach(withdrawal -> withdrawal.done().complete(null));
            withdrawals.clear();
        }
    }

    private void takeToFail(FinishedBatch batch, RuntimeException cause, boolean isCounted) {
        given.onFailed(cause);
        fail(batch, cause, isCounted);
        moveToOutstanding(batch); // its callbacks run after those of the batches before it
    }

    private static void fail(FinishedBatch batch, RuntimeException cause, boolean isCounted) {
        batch.decide(-1, -1, cause);
        if (!isCounted) {
            batch.leaveUncounted();
        }
    }

    /** After the connections are gone: nothing can be in flight any more. */
    void abandonInFlight() {
        outstanding.forEach(batch -> batch.onRequestEnded(false));
        inFlight = 0;
    }

    static int sequenceAfter(int sequence, int count) {
        return (sequence + count) & Integer.MAX_VALUE; // wraps to 0 after 2^31 - 1
    }

    /** Gives the reason why a batch fails. */
    interface Failure {
        RuntimeException of(FinishedBatch batch);

        /** Whether the metrics count the records as failed. */
        default boolean isCounted() {
            return true;
        }
    }

    /** The records are given up, and do not count as failed, as with the stock producer. */
    record Abort(RuntimeException reason) implements Failure {
        @Override
        public RuntimeException of(FinishedBatch batch) {
            return reason;
        }

        @Override
        public boolean isCounted() {
            return false;
        }
    }
}
