package dev.millrace.mirror.copy;

import dev.millrace.mirror.control.TopicGate;
import dev.millrace.mirror.control.Turn;
import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import dev.millrace.mirror.progress.SourcePositions;
import dev.millrace.mirror.refused.RefusedRecordSearch;
import java.util.function.BooleanSupplier;
import org.apache.kafka.common.TopicPartition;

/**
 * What a {@link RecordCopier} keeps of a partition besides its {@link AckedPrefix} and its {@link PolledRecords}: where
 * it began, what delays it, and the producer id, epoch and sequence of its records.
 *
 * <p><b>Threads:</b> the member's thread.
 */
final class ForwardedPartition {
    private final TopicPartition partition;
    private final InFlightMemory.Share share;
    private final TopicGate gate;
    private Turn turn;
    private SourcePositions.Start start;
    /** Producer id, epoch and sequence of the first record sent since the prefix was added; null if not set yet. */
    private ResumePoint resumePoint;
    /** Producer id, epoch and sequence to set before the next record is sent; null if it gets new ones then. */
    private ResumePoint nextResumePoint;

    /** @param share of the memory for what is in flight */
    ForwardedPartition(
            TopicPartition partition, SourcePositions.Start start, InFlightMemory.Share share, TopicGate gate) {
        this.partition = partition;
        this.start = start;
        this.share = share;
        this.gate = gate;
        this.turn = gate.newTurn();
    }

    /** Returns where it began last. */
    SourcePositions.Start start() {
        return start;
    }

    InFlightMemory.Share share() {
        return share;
    }

    /** Returns the turn, under a throttle, of the records that are sent next. */
    Turn turn() {
        return turn;
    }

    /**
     * Sets producer id, epoch and sequence if they are not set. Then the target takes nothing after a refused record,
     * and the partition can be copied from there on without writing a record twice. Returns whether they are set.
     *
     * @param isSettled whether nothing is in flight that has other sequences
     */
    boolean trySetSequence(RefusedRecordSearch.Context context, BooleanSupplier isSettled) {
        if (resumePoint != null) {
            return true;
        }
        if (nextResumePoint == null) {
            nextResumePoint = context.newEpochs()
                    .next(partition, start.offset(), ResumePoint.UNKNOWN)
                    .orElse(null);
        }
        if (nextResumePoint == null
                || !isSettled.getAsBoolean()
                || !context.trySetSequence(partition, nextResumePoint)) {
            return false;
        }
        resumePoint = nextResumePoint;
        nextResumePoint = null;
        return true;
    }

    /**
     * Forgets the sequences of what was sent, whose records all have an outcome, and frees its share; a new turn
     * begins.
     *
     * @param acked how many records of it were acknowledged
     * @param offset of the record after them
     * @return producer id, epoch and sequence of that record
     */
    ResumePoint end(long acked, long offset) {
        ResumePoint after = resumePoint.after(acked, offset, ResumePoint.UNKNOWN);
        resumePoint = null;
        share.update(0);
        turn = gate.newTurn();
        return after;
    }

    /** @param known producer id, epoch and sequence of the first record; null if it gets new ones */
    void beginAgain(SourcePositions.Start from, ResumePoint known) {
        start = from;
        nextResumePoint = known;
    }
}
