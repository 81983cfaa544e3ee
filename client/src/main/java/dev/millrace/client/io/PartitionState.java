package dev.millrace.client.io;

import dev.millrace.client.accumulator.Evidence;
import dev.millrace.client.accumulator.FailureLog;
import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.accumulator.PartitionQueue;
import dev.millrace.client.accumulator.SealCause;
import dev.millrace.client.accumulator.Withdrawal;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
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
    private final Sequences sequences;
    private final GivenSequences given;
    private final Doubts doubts;

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

    private volatile long wantedIn;
    private volatile long addedIn;

    /** The leader was asked what it remembers, and has not answered. */
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
        this.leader = new LeaderState(settings.maxInFlight());
        this.doubts = new Doubts(outstanding, memory);
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

    /** The finished batch to send next to broker {@code node}, or null if there is none or it must wait. */
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
        boolean isOfBefore = given.areNew() && !outstanding.isEmpty(); // what expired in flight has the former numbers
        return isOfBefore || leader.isBlocked(node, inFlight, nowMs) || isBlockedByDoubt(nowMs);
    }

    /**
     * Whether the leader might not recognize the first batch without an outcome any more after it has written this one,
     * or the next one.
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
            moveToOutstanding(batch);
        }
    }

    /** Adds before it removes: if memory is lacking, the batch is still in the queue, and its records are not lost. */
    private void moveToOutstanding(FinishedBatch batch) {
        outstanding.addLast(batch); // may lack memory
        queue.take();
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

    /** The broker has refused the batch, or its answer is lost. */
    void onRefused(FinishedBatch batch) {
        if (batch.evidence() == Evidence.UNKNOWN) {
            doubts.onAttemptLeftOpen();
        }
    }

    /** The broker has the batch. Call this before the batch is decided. */
    void onAccepted(FinishedBatch batch, long nowMs) {
        if (idempotent) {
            failOvertaken(batch);
        }
        if (isFirstUndecided(batch)) {
            leader.onAccepted(batch.sentInTerm(), nowMs);
        }
        if (idempotent && !outstanding.isLaterAccepted(batch)) {
            sequences.onAccepted(batch);
        }
    }

    /** A later batch is in the log: earlier ones that are proved unwritten are not sent any more. */
    private void failOvertaken(FinishedBatch accepted) {
        if (isFirstUndecided(accepted)) {
            return;
        }
        for (FinishedBatch earlier : outstanding) {
            if (earlier == accepted) {
                return;
            }
            earlier.onAbsenceOver();
            if (!earlier.isInFlight() && earlier.evidence() != Evidence.UNKNOWN) {
                failInDoubt(earlier, overtaken(earlier));
            }
        }
    }

    private void failInDoubt(FinishedBatch batch, OutOfOrderSequenceException cause) {
        if (batch.isDecided()) {
            return;
        }
        log.warn("{}: {} records failed: {}", batch.partition(), batch.count(), cause.getMessage());
        noteGap(true, cause);
        batch.decide(-1, -1, cause);
    }

    /** Why a batch fails that is not in the log, while a later one is. */
    static OutOfOrderSequenceException overtaken(FinishedBatch batch) {
        return new OutOfOrderSequenceException("The broker refused " + batch.count() + " record(s) for "
                + batch.partition() + " before it wrote them, and has accepted later ones, or may have, because it had"
                + " forgotten the producer (producer.id.expiration.ms, counted from the timestamps of records); they are"
                + " not written, and sent again they would be in the wrong order");
    }

    private static OutOfOrderSequenceException open(FinishedBatch batch) {
        return new OutOfOrderSequenceException("The answer to " + batch.count() + " record(s) for " + batch.partition()
                + " is lost, and the broker can no longer tell whether it has written them: it may have forgotten the"
                + " producer (producer.id.expiration.ms, counted from the timestamps of records), or the producer may"
                + " not ask (it needs the right to read the topic); sent again they might be there twice");
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
            sequences.numberParts(batch, parts);
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
        sequences.onFailed(hasSequence, cause);
    }

    /**
     * The broker did not expect this batch's sequence, and no earlier batch can still reach it. When nothing is in
     * flight it is asked what it has, if anything may be written; what is not in its log gets new sequences.
     */
    void onUnexpectedSequence(FinishedBatch batch) {
        doubts.onUnexpectedSequence(batch);
    }

    /** Where the batch stands among those without an outcome. */
    AnswerTable.Position positionOf(FinishedBatch batch) {
        if (!idempotent) {
            return AnswerTable.Position.FIRST;
        }
        if (outstanding.isLaterAccepted(batch)) {
            return AnswerTable.Position.OVERTAKEN;
        }
        return isFirstUndecided(batch) ? AnswerTable.Position.FIRST : AnswerTable.Position.AFTER_UNDECIDED;
    }

    /**
     * What the leader has answered when asked what it remembers. Batches that are decided by it are to be delivered.
     *
     * @param askAgainAtMs if it could not answer
     */
    void onMemory(ProducerMemory told, long nowMs, long askAgainAtMs) {
        isAsking = false;
        if (told.kind() == ProducerMemory.Kind.UNANSWERED) {
            leader.backOffUntil(askAgainAtMs);
            return;
        }
        ProducerMemory answer = told.ofEpoch(sequences.producerId().epoch());
        doubts.onAnswer(nowMs);
        outstanding.forEach(FinishedBatch::onAbsenceOver);
        for (FinishedBatch batch : outstanding) {
            if (!batch.isAccepted()) {
                apply(doubts.verdictOn(batch, answer, nowMs), batch);
            }
        }
        if (doubts.hasGap()) {
            closeGap(answer);
        }
    }

    /** Only the first outcome of a batch counts. */
    private void apply(Doubts.Verdict verdict, FinishedBatch batch) {
        switch (verdict) {
            case UNWRITTEN -> batch.onAbsent();
            case OVERTAKEN -> failInDoubt(batch, overtaken(batch));
            case OPEN -> failInDoubt(batch, open(batch));
            case SEND_AGAIN -> {}
        }
    }

    /** Without new sequences, if the leader may take the old ones now, or if they must not change. */
    private void closeGap(ProducerMemory answer) {
        FinishedBatch first = outstanding.firstUndecided();
        boolean isNext = first != null
                && answer.kind() == ProducerMemory.Kind.REMEMBERED
                && first.sequence() == Sequences.after(answer.lastSequence(), 1);
        boolean isToBeRecognized = outstanding.firstUndecided(Evidence.UNKNOWN) != null;
        if (isNext || isToBeRecognized || answer.kind() == ProducerMemory.Kind.FORGOTTEN) {
            doubts.clearGap();
        } else if (first != null && !mayRenumber()) {
            doubts.clearGap();
            failInDoubt(
                    first,
                    new OutOfOrderSequenceException(first.partition() + " lacks what was before sequence "
                            + first.sequence() + ": the last that its leader has is " + answer.lastSequence()));
        }
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
        } catch (Throwable t) { // for example of the application's metrics reporter; the records need their outcome
            FailureLog.error(log, "Counting the failed records of {} failed", batch.partition(), t);
        }
    }

    /** Once no batch may be written, none in flight either: closes a gap by a new epoch, or finds that there is none. */
    void closeSequenceGap(ProducerIds ids) {
        if (!idempotent || isAsking) {
            return;
        }
        if (doubts.hasGap() && outstanding.firstUndecided(Evidence.UNKNOWN) == null) {
            doubts.clearGap();
            if (mayRenumber()) {
                sequences.onGap();
            }
        }
        if (outstanding.isEmpty()) {
            sequences.onAllDecided();
        }
        if (sequences.hasGap()) {
            ProducerId newest = ids.current();
            if (newest.equals(sequences.producerId()) && !transactions.isTransactional()) { // its end gives it one
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
