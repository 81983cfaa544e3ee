package dev.millrace.client.io;

import dev.millrace.client.accumulator.Evidence;
import dev.millrace.client.accumulator.FinishedBatch;

/**
 * Which batches of a partition may or may not be in its log, and what the leader must be asked before anything is sent:
 * whether it remembers the producer at all, before a batch is sent again that it may have written and forgotten; and its
 * last sequence, after it did not expect one. An answer can prove that a batch is not in the log. It acknowledges none:
 * what is in the leader's log may not be on its replicas yet, and a later batch may be there without an earlier one.
 * What it leaves open fails as possibly written, unless the broker still recognizes it when it is sent again.
 *
 * <p><b>Threads:</b> the partition's I/O thread.
 */
final class Doubts {
    private static final long NEVER = Long.MIN_VALUE / 2;

    private final OutstandingBatches outstanding;
    private final BrokerMemory memory;

    /** An attempt left it open whether it wrote its batch, and some batch is outstanding since. */
    private boolean isSomethingOpen;

    /** When the leader has last told what it remembers, and for how long it does, since an attempt was left open. */
    private long answeredMs = NEVER;

    /** The same by the wall clock, which goes on while the machine is suspended. */
    private long answeredWallMs = NEVER;

    /** The batch whose sequence the broker did not expect; null if there is no such gap. */
    private FinishedBatch unexpected;

    /** The newest timestamp of the batch before the outstanding ones: the leader may remember that one last. */
    private long timestampBefore = Long.MAX_VALUE;

    Doubts(OutstandingBatches outstanding, BrokerMemory memory) {
        this.outstanding = outstanding;
        this.memory = memory;
    }

    /** What an answer of the leader says of a batch without an outcome. */
    enum Verdict {
        /** It is not in the log. */
        UNWRITTEN,
        /** It is not in the log, and a later one is, or may be. */
        OVERTAKEN,
        /** It may be in the log, and nobody can tell. */
        OPEN,
        /** It is sent again; the broker recognizes it if it has it. */
        SEND_AGAIN
    }

    void onAttemptLeftOpen() {
        isSomethingOpen = true;
        answeredMs = NEVER;
    }

    /** The leader has told what it remembers. */
    void onAnswer(long nowMs) {
        answeredMs = nowMs;
        answeredWallMs = memory.wallMs();
    }

    /** The broker did not expect this batch's sequence. */
    void onUnexpectedSequence(FinishedBatch batch) {
        unexpected = batch;
    }

    boolean hasGap() {
        return unexpected != null;
    }

    /** The gap is closed, or there is none. */
    void clearGap() {
        unexpected = null;
    }

    /** A batch is gone from the outstanding ones. */
    void onDone(FinishedBatch batch) {
        timestampBefore = batch.isAccepted()
                ? batch.maxTimestamp()
                : Math.min(timestampBefore, batch.maxTimestamp()); // it may be written
        isSomethingOpen &= !outstanding.isEmpty();
    }

    /** Whether the leader must be asked before anything is sent. Only while nothing is in flight. */
    boolean isQuestionOpen(long nowMs) {
        if (unexpected != null) {
            return outstanding.firstUndecided(Evidence.UNKNOWN) != null;
        }
        return isSomethingOpen && isRetryUnsafe(nowMs);
    }

    /**
     * Whether the broker might take what is to be sent for new, though it, or a later batch, is in the log. Those that
     * have failed count: they may be there all the same.
     */
    private boolean isRetryUnsafe(long nowMs) {
        FinishedBatch again = outstanding.firstToSendAgain();
        return again != null && hasUnknownFrom(again) && !isJustAnswered(nowMs);
    }

    private boolean isJustAnswered(long nowMs) {
        return nowMs - answeredMs < BrokerMemory.AFTER_ANSWER_MS
                && memory.wallMs() - answeredWallMs < BrokerMemory.AFTER_ANSWER_MS;
    }

    private boolean hasUnknownFrom(FinishedBatch first) {
        boolean isReached = false;
        for (FinishedBatch batch : outstanding) {
            isReached |= batch == first;
            if (isReached && batch.evidence() == Evidence.UNKNOWN) {
                return true;
            }
        }
        return false;
    }

    /** Whether the leader cannot have forgotten the producer since it wrote any of the outstanding batches. */
    boolean isMemoryCertain(long nowMs) {
        long oldest = timestampBefore;
        for (FinishedBatch batch : outstanding) {
            oldest = Math.min(oldest, batch.maxTimestamp());
        }
        return memory.isCertain(oldest, nowMs);
    }

    /** Whether a leader that has written this batch must still know the producer, whatever it has written after it. */
    private boolean isMemoryCertainAfter(FinishedBatch first, long nowMs) {
        boolean isReached = false;
        for (FinishedBatch batch : outstanding) {
            isReached |= batch == first;
            if (isReached && !memory.isCertain(batch.maxTimestamp(), nowMs)) {
                return false;
            }
        }
        return true;
    }

    /** What the answer says of an outstanding batch that is not acknowledged. */
    Verdict verdictOn(FinishedBatch batch, ProducerMemory answer, long nowMs) {
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
            case FORGOTTEN -> isMemoryCertainAfter(batch, nowMs) ? Verdict.UNWRITTEN : Verdict.OPEN;
            case REFUSED -> batch != unexpected && isMemoryCertain(nowMs) ? Verdict.SEND_AGAIN : Verdict.OPEN;
            case UNANSWERED -> Verdict.SEND_AGAIN;
        };
    }

    private boolean mayBeOvertaken(FinishedBatch batch, ProducerMemory answer, long nowMs) {
        boolean isLater = false;
        for (FinishedBatch other : outstanding) {
            if (isLater
                    && other.evidence() == Evidence.UNKNOWN
                    && verdictOnUnknown(other, answer, nowMs) == Verdict.OPEN) {
                return true;
            }
            isLater |= other == batch;
        }
        return false;
    }
}
