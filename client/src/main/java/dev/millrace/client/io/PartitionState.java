package dev.millrace.client.io;

import dev.millrace.client.accumulator.Evidence;
import dev.millrace.client.accumulator.FailureLog;
import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.accumulator.PartitionQueue;
import java.util.Iterator;
import org.apache.kafka.common.Uuid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the I/O thread knows about one partition: the batches taken from its queue and not done, the next sequence, and
 * whether more may be sent.
 *
 * <p>{@code outstanding} holds, in the order of their sequences, the batches in flight, those to be sent (again), and
 * those whose outcome is known while an earlier batch's is not. After an error only the first of them is sent, alone,
 * until the current leader has accepted it; see {@link LeaderState}.
 *
 * <p><b>Threads:</b> the partition's I/O thread.
 */
final class PartitionState {
    private static final Logger log = LoggerFactory.getLogger(PartitionState.class);

    private final PartitionQueue queue;
    private final SenderMetrics metrics;
    private final boolean idempotent;
    private final TransactionShare transactions;
    private final LeaderState leader;
    private final OutstandingBatches outstanding = new OutstandingBatches();
    private final Sequences sequences;
    private final GivenSequences given;
    private final Doubts doubts;

    /** Where the partition waits; only {@link PartitionPlaces} changes it. */
    Place place = Place.NOWHERE;

    /** When the partition leaves that place at the latest, if it lingers or backs off. */
    final Deadlines.Deadline revisit = new Deadlines.Deadline(this);

    final Deadlines.Deadline expiring = new Deadlines.Deadline(this);

    /** Fails batches that are not sent (again). */
    final GivenUpBatches givenUp;

    final TransactionMembership membership = new TransactionMembership();

    /** Whether the partition has changed and is about to be visited. {@link Drainer} sets it. */
    boolean isChanged;

    private int inFlight;

    /** Whether the leader was asked what it remembers and has not answered. */
    private boolean isAsking;

    PartitionState(
            PartitionQueue queue,
            SenderSettings settings,
            BrokerMemory memory,
            SenderMetrics metrics,
            TransactionShare transactions) {
        this.transactions = transactions;
        this.queue = queue;
        this.idempotent = settings.idempotent();
        this.sequences = new Sequences(queue, idempotent, transactions);
        this.given = sequences.given();
        this.metrics = metrics;
        this.leader = new LeaderState(settings.maxInFlight(), memory);
        this.doubts = new Doubts(outstanding, sequences, leader, memory);
        this.givenUp = new GivenUpBatches(queue, outstanding, sequences);
    }

    boolean isIdempotent() {
        return idempotent;
    }

    /** Whether batches after a gap in the sequences may be sent with a new epoch. */
    boolean mayRenumber() {
        return sequences.mayRenumber();
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

    /** Returns the finished batch to send next to broker {@code node}, or null if there is none or it must wait. */
    FinishedBatch candidate(int node, long nowMs) {
        if (isBlocked(node, nowMs)) {
            return null;
        }
        FinishedBatch again = outstanding.firstToSendAgain();
        if (isMoreThanTheBrokerRemembers(again)) {
            return null;
        }
        if (again != null) {
            return again;
        }
        FinishedBatch first = sequences.mayHaveGap() ? null : queue.peek();
        return first == null || first.isUnwritable() ? null : first;
    }

    /** Whether the open batch would be {@link #candidate} if it were sealed now. */
    boolean isOpenBatchNext(int node, long nowMs) {
        return !isBlocked(node, nowMs)
                && !sequences.mayHaveGap()
                && queue.hasRecords()
                && queue.isOldestOpen()
                && outstanding.firstToSendAgain() == null
                && !isMoreThanTheBrokerRemembers(null);
    }

    private boolean isBlocked(int node, long nowMs) {
        boolean isOfBefore = given.areNew() && !outstanding.isEmpty(); // expired ones keep old sequences
        return isOfBefore || leader.isBlocked(node, inFlight, nowMs) || isBlockedByDoubt(nowMs);
    }

    /**
     * Whether the leader might no longer recognize the first batch without an outcome after it has written this one, or
     * the next one.
     */
    private boolean isMoreThanTheBrokerRemembers(FinishedBatch batchOrNull) {
        return idempotent && outstanding.countUpTo(batchOrNull) > BrokerMemory.BATCHES;
    }

    private boolean isBlockedByDoubt(long nowMs) {
        return idempotent && (sequences.hasGap() || doubts.hasGap() || isAsking || doubts.isQuestionOpen(nowMs));
    }

    /** Whether the leader must be asked what it remembers before anything is sent. */
    boolean isQuestionOpen(long nowMs) {
        return idempotent && inFlight == 0 && !isAsking && doubts.isQuestionOpen(nowMs);
    }

    /** Notes that broker {@code node} is asked now. */
    ProducerId ask(int node) {
        leader.updateNode(node);
        doubts.onAsked();
        isAsking = true;
        return sequences.producerId();
    }

    /** Marks {@link #candidate} as in flight to {@code node}, and gives it a sequence unless it has one. */
    void markInFlight(FinishedBatch batch, int node, ProducerId newest, long nowMs) {
        leader.updateNode(node);
        if (inFlight == 0) {
            leader.onSendingAlone(nowMs);
        }
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
            if (sequences.number(batch, newest, outstanding.isEmpty())) {
                leader.requireAcceptance();
            }
            outstanding.moveFrom(queue);
        }
    }

    /** Returns the time before which nothing is sent to the leader that refused a batch. */
    long notBeforeMs() {
        return leader.notBeforeMs();
    }

    // ---- answers ----

    /** The batch's request is answered or lost; {@code nothingWritten} as in {@link FinishedBatch#onRequestEnded}. */
    void onRequestEnded(FinishedBatch batch, boolean nothingWritten) {
        batch.onRequestEnded(nothingWritten);
        inFlight--;
    }

    /** The broker has refused the batch, or its answer is lost. */
    void onRefused(FinishedBatch batch) {
        if (batch.evidence() == Evidence.UNKNOWN) {
            doubts.onAttemptLeftOpen();
        }
    }

    /** The broker has the batch. Call this before the batch is decided. */
    void onAccepted(FinishedBatch batch, long nowMs) {
        if (idempotent) {
            doubts.failOvertaken(batch);
        }
        if (outstanding.isFirstUndecided(batch)) {
            leader.onAccepted(batch.sentInTerm(), nowMs);
        }
        if (idempotent && !outstanding.isLaterAccepted(batch)) {
            sequences.onAccepted(batch);
        }
    }

    /**
     * The batch was refused, and will be sent again, alone, but not before {@code backoffUntilMs} to the leader that
     * refused it.
     */
    void backOffUntil(FinishedBatch batch, long backoffUntilMs) {
        leader.backOffUntil(batch.sentInTerm(), backoffUntilMs);
    }

    /** The broker found the batch too large. */
    void splitTooLarge(FinishedBatch batch) {
        leader.requireAcceptance();
        replaceByParts(batch);
    }

    /** Puts smaller batches, with the same sequences, in the place of this one. */
    private void replaceByParts(FinishedBatch batch) {
        batch.splitIntoParts(parts -> {
            sequences.numberParts(batch, parts);
            outstanding.replace(batch, parts);
        });
    }

    /** The batch failed and is not sent again. It may still have been written, or its sequence may be missing. */
    void onFailed(FinishedBatch batch, RuntimeException cause) {
        leader.requireAcceptance();
        sequences.onFailed(batch.sequence() != FinishedBatch.NO_SEQUENCE, cause);
    }

    /**
     * The broker did not expect this batch's sequence, and no earlier batch can still reach it. Once nothing is in
     * flight, the broker is asked what it has, if anything may be written; batches that are not in its log get new
     * sequences.
     */
    void onUnexpectedSequence(FinishedBatch batch) {
        doubts.onUnexpectedSequence(batch);
    }

    /** Returns where the batch is among those without an outcome. */
    AnswerTable.Position positionOf(FinishedBatch batch) {
        if (!idempotent) {
            return AnswerTable.Position.FIRST;
        }
        if (outstanding.isLaterAccepted(batch)) {
            return AnswerTable.Position.OVERTAKEN;
        }
        return outstanding.isFirstUndecided(batch) ? AnswerTable.Position.FIRST : AnswerTable.Position.AFTER_UNDECIDED;
    }

    /**
     * Takes the leader's answer about what it remembers. The caller delivers the batches that it decides.
     *
     * @param askAgainAtMs when to ask again if it could not answer
     */
    void onMemory(ProducerMemory told, long nowMs, long askAgainAtMs) {
        isAsking = false;
        if (told.kind() == ProducerMemory.Kind.UNANSWERED) {
            leader.backOffUntil(doubts.askedInTerm(), askAgainAtMs);
            return;
        }
        doubts.onAnswer(told, nowMs);
    }

    /**
     * Runs callbacks and completes futures of every decided batch; with idempotence, in the order of the batches.
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
                    doubts.onDone(batch);
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
        } catch (Throwable t) { // for example from the application's metrics reporter; the records need their outcome
            FailureLog.error(log, "Counting the failed records of {} failed", batch.partition(), t);
        }
    }

    /**
     * Once no batch may be written and none is in flight: closes a gap with a new epoch, or finds that there is none.
     */
    void closeSequenceGap(ProducerIds ids) {
        if (!idempotent || isAsking) {
            return;
        }
        doubts.endGapIfNothingIsUnknown();
        if (outstanding.isEmpty()) {
            sequences.onAllDecided();
        }
        if (sequences.hasGap()) {
            ProducerId newest = ids.current();
            if (newest.equals(sequences.producerId()) && !transactions.isTransactional()) { // its end gives one
                ids.bumpEpoch(newest);
                newest = ids.current();
            }
            if (newest.isKnown() && !newest.equals(sequences.producerId())) {
                renumber(newest);
            }
        }
    }

    private void renumber(ProducerId newest) {
        sequences.restart(newest);
        leader.requireAcceptance();
        for (FinishedBatch batch : outstanding) {
            if (!batch.isDecided()) {
                sequences.continueWith(batch);
            }
        }
    }

    /** Tells the application about what it has withdrawn, once none of it can be written any more. */
    void completeWithdrawals() {
        if (inFlight == 0) {
            givenUp.completeWithdrawals();
        }
    }

    boolean isIdle() {
        return outstanding.isEmpty() && !queue.hasRecords();
    }

    /** Returns when the oldest batch without an outcome was opened. Call it only while not {@link #isIdle}. */
    long oldestCreatedMs() {
        FinishedBatch first = outstanding.firstUndecided();
        if (first != null) {
            return first.createdMs();
        }
        return queue.hasRecords() ? queue.oldestCreatedMs() : Long.MAX_VALUE;
    }

    /** Call it after the connections are gone: nothing can be in flight any more. */
    void abandonInFlight() {
        outstanding.forEach(batch -> batch.onRequestEnded(false));
        inFlight = 0;
    }
}
