package dev.millrace.client.io;

import dev.millrace.client.accumulator.Evidence;
import dev.millrace.client.accumulator.FinishedBatch;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tracks which batches of a partition may or may not be in its log, and what to ask the leader before anything is sent.
 * Before a batch that the leader may have written and forgotten is sent again, it is asked whether it remembers the
 * producer at all. After it did not expect a sequence, it is asked for its last one. An answer can prove that a batch
 * is not in the log. It acknowledges no batch: what is in the leader's log may not be on its replicas yet, and a later
 * batch may be there without an earlier one. Batches whose state it leaves open fail as possibly written, unless the
 * broker still recognizes them when they are sent again.
 *
 * <p><b>Threads:</b> the partition's I/O thread.
 */
final class Doubts {
    private static final Logger log = LoggerFactory.getLogger(Doubts.class);

    private final OutstandingBatches outstanding;
    private final Sequences sequences;
    private final LeaderState leader;
    private final BrokerMemory memory;

    /** Whether some attempt may have written its batch, and batches have been outstanding ever since. */
    private boolean isSomethingOpen;

    /** When the leader last told what it remembers; forgotten when an attempt is left open or the leader is asked. */
    private final AnswerTime answered;

    /** The leader's term when it was asked last. */
    private int askedInTerm;

    /** The batch whose sequence the broker did not expect; null if there is no such gap. */
    private FinishedBatch unexpected;

    /**
     * The newest timestamp of the batch before the outstanding ones, which may be the last that the leader remembers.
     */
    private long timestampBefore = Long.MAX_VALUE;

    Doubts(OutstandingBatches outstanding, Sequences sequences, LeaderState leader, BrokerMemory memory) {
        this.outstanding = outstanding;
        this.sequences = sequences;
        this.leader = leader;
        this.memory = memory;
        this.answered = new AnswerTime(memory);
    }

    /** What the leader's answer says about a batch without an outcome. */
    private enum Verdict {
        /** The batch is not in the log. */
        UNWRITTEN,
        /** The batch is not in the log, and a later one is or may be. */
        OVERTAKEN,
        /** The batch may be in the log, and nothing can tell. */
        OPEN,
        /** The batch is sent again; the broker recognizes it if it has it. */
        SEND_AGAIN
    }

    void onAttemptLeftOpen() {
        isSomethingOpen = true;
        answered.forget();
    }

    /** The leader is asked now. Its answer says nothing about the next leader, which may have forgotten the producer. */
    void onAsked() {
        answered.forget(); // it may have been the leader before who told
        askedInTerm = leader.term();
    }

    int askedInTerm() {
        return askedInTerm;
    }

    /** The broker did not expect this batch's sequence. */
    void onUnexpectedSequence(FinishedBatch batch) {
        unexpected = batch;
    }

    boolean hasGap() {
        return unexpected != null;
    }

    /** Ends the gap: later batches may need new sequences. Call it only while nothing is in flight. */
    void endGapIfNothingIsUnknown() {
        if (hasGap() && outstanding.firstUndecided(Evidence.UNKNOWN) == null) {
            unexpected = null;
            if (sequences.mayRenumber()) {
                sequences.onGap();
            }
        }
    }

    /** A batch is no longer outstanding. */
    void onDone(FinishedBatch batch) {
        timestampBefore = batch.isAccepted()
                ? batch.maxTimestamp()
                : Math.min(timestampBefore, batch.maxTimestamp()); // it may be written
        isSomethingOpen &= !outstanding.isEmpty();
    }

    /** Whether the leader must be asked before anything is sent; it is asked once nothing is in flight. */
    boolean isQuestionOpen(long nowMs) {
        if (unexpected != null) {
            return outstanding.firstUndecided(Evidence.UNKNOWN) != null;
        }
        return isSomethingOpen && isRetryUnsafe(nowMs);
    }

    /**
     * Whether the broker might take the next batch for a new one although it, or a later batch, is in the log. Failed
     * batches count too, because they may be in the log nevertheless. So do batches that were not in the log when the
     * leader was asked: a request that arrived late may have written them since.
     */
    private boolean isRetryUnsafe(long nowMs) {
        FinishedBatch again = outstanding.firstToSendAgain();
        return again != null
                && !(askedInTerm == leader.term() && answered.isRecent(nowMs))
                && outstanding.anyFrom(again, FinishedBatch::isPossiblyWritten);
    }

    /** Whether the leader cannot have forgotten the producer since it wrote any of the outstanding batches. */
    boolean isMemoryCertain(long nowMs) {
        long oldest = timestampBefore;
        for (FinishedBatch batch : outstanding) {
            oldest = Math.min(oldest, batch.maxTimestamp());
        }
        return memory.isCertain(oldest, nowMs);
    }

    /** Whether a leader that wrote this batch must still know the producer, whatever it has written since. */
    private boolean isMemoryCertainAfter(FinishedBatch first, long nowMs) {
        return !outstanding.anyFrom(first, batch -> !memory.isCertain(batch.maxTimestamp(), nowMs));
    }

    /** The leader has answered the question. The caller then delivers batches that the answer decides. */
    void onAnswer(ProducerMemory told, long nowMs) {
        ProducerMemory answer = told.ofEpoch(sequences.producerId().epoch());
        answered.note(nowMs);
        outstanding.forEach(FinishedBatch::onAbsenceOver);
        for (FinishedBatch batch : outstanding) {
            if (!batch.isAccepted()) {
                apply(verdictOn(batch, answer, nowMs), batch, answer);
            }
        }
        if (hasGap()) {
            endGap(answer);
        }
    }

    /** Only the first outcome of a batch counts. */
    private void apply(Verdict verdict, FinishedBatch batch, ProducerMemory answer) {
        switch (verdict) {
            case UNWRITTEN -> batch.onAbsent();
            case OVERTAKEN -> fail(batch, overtaken(batch));
            case OPEN -> fail(batch, open(batch, answer));
            case SEND_AGAIN -> {}
        }
    }

    /** Ends the gap without new sequences if the leader may take the old ones now or they must not change. */
    private void endGap(ProducerMemory answer) {
        FinishedBatch first = outstanding.firstUndecided();
        boolean isNext = first != null
                && answer.kind() == ProducerMemory.Kind.REMEMBERED
                && first.sequence() == Sequences.after(answer.lastSequence(), 1);
        boolean isToBeRecognized = outstanding.firstUndecided(Evidence.UNKNOWN) != null;
        if (isNext || isToBeRecognized || answer.kind() == ProducerMemory.Kind.FORGOTTEN) {
            unexpected = null;
        } else if (first != null && !sequences.mayRenumber()) {
            unexpected = null;
            fail(first, missingBefore(first, answer));
        }
    }

    /** Returns what the answer says about an outstanding batch that is not acknowledged. */
    private Verdict verdictOn(FinishedBatch batch, ProducerMemory answer, long nowMs) {
        if (batch.evidence() == Evidence.UNKNOWN) {
            return verdictOnUnknown(batch, answer, nowMs);
        }
        boolean isOvertaken = answer.kind() == ProducerMemory.Kind.REMEMBERED && !answer.isBefore(batch.sequence());
        return isOvertaken || mayBeOvertaken(batch, answer, nowMs) ? Verdict.OVERTAKEN : Verdict.SEND_AGAIN;
    }

    private Verdict verdictOnUnknown(FinishedBatch batch, ProducerMemory answer, long nowMs) {
        return switch (answer.kind()) {
            case REMEMBERED -> {
                if (answer.isBefore(batch.sequence())) {
                    yield Verdict.UNWRITTEN;
                }
                // The leader recognizes the last batches that it has written, but not what it has just refused.
                yield batch == unexpected ? Verdict.OPEN : Verdict.SEND_AGAIN;
            }
            case FORGOTTEN -> {
                // Whatever the timestamps, no broker forgets a producer whose transaction is open in the partition. But
                // it may have lost what it had acknowledged.
                boolean isUnwritten = sequences.isTransactionNew() || isMemoryCertainAfter(batch, nowMs);
                yield isUnwritten ? Verdict.UNWRITTEN : Verdict.OPEN;
            }
            case REFUSED -> batch != unexpected && isMemoryCertain(nowMs) ? Verdict.SEND_AGAIN : Verdict.OPEN;
            case UNANSWERED -> Verdict.SEND_AGAIN;
        };
    }

    private boolean mayBeOvertaken(FinishedBatch batch, ProducerMemory answer, long nowMs) {
        return outstanding.anyAfter(
                batch,
                later ->
                        later.evidence() == Evidence.UNKNOWN && verdictOnUnknown(later, answer, nowMs) == Verdict.OPEN);
    }

    /** A later batch is in the log, so earlier ones that are proved unwritten are no longer sent. */
    void failOvertaken(FinishedBatch accepted) {
        if (outstanding.isFirstUndecided(accepted)) {
            return;
        }
        for (FinishedBatch earlier : outstanding) {
            if (earlier == accepted) {
                return;
            }
            earlier.onAbsenceOver();
            if (!earlier.isInFlight() && earlier.evidence() != Evidence.UNKNOWN) {
                fail(earlier, overtaken(earlier));
            }
        }
    }

    private void fail(FinishedBatch batch, OutOfOrderSequenceException cause) {
        if (batch.isDecided()) {
            return;
        }
        log.warn("{}: {} records failed: {}", batch.partition(), batch.count(), cause.getMessage());
        sequences.onFailed(true, cause);
        batch.decide(-1, -1, cause);
    }

    /** Returns why a batch fails that is not in the log although a later one is. */
    static OutOfOrderSequenceException overtaken(FinishedBatch batch) {
        return new OutOfOrderSequenceException("The broker refused " + batch.count() + " record(s) for "
                + batch.partition() + " before it wrote them, and has accepted later ones, or may have, because it had"
                + " forgotten the producer (producer.id.expiration.ms, counted from the timestamps of records); they are"
                + " not written, and sent again they would be in the wrong order");
    }

    private static OutOfOrderSequenceException open(FinishedBatch batch, ProducerMemory answer) {
        String why = switch (answer.kind()) {
            case FORGOTTEN ->
                "it has forgotten the producer (producer.id.expiration.ms, counted from the"
                        + " timestamps of records)";
            case REFUSED -> "the producer may not ask it (that needs the right to read the topic)";
            case REMEMBERED, UNANSWERED -> "it remembers the last batches only";
        };
        return new OutOfOrderSequenceException("The answer to " + batch.count() + " record(s) for " + batch.partition()
                + " is lost, and the broker cannot tell whether it has written them: " + why
                + "; sent again they might be there twice");
    }

    private static OutOfOrderSequenceException missingBefore(FinishedBatch batch, ProducerMemory answer) {
        return new OutOfOrderSequenceException(batch.partition() + " lacks what was before sequence " + batch.sequence()
                + ": the last that its leader has is " + answer.lastSequence());
    }
}
