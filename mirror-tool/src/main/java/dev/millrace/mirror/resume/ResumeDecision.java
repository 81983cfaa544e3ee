package dev.millrace.mirror.resume;

import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import org.apache.kafka.clients.admin.ProducerState;

/**
 * How many records after the committed offset the target has already, according to its answer.
 *
 * @param present their number, if {@code isKnown}
 * @param reason why the number is not known, for an operator; empty if it is
 */
record ResumeDecision(long present, String reason) {
    /** Sequences wrap. So many records cannot have been written since a commit: the target is before it instead. */
    private static final int MOST = 1 << 30;

    /** @param target what it remembers of the producer id */
    static ResumeDecision of(ResumePoint committed, ProducerState target) {
        int epoch = target.producerEpoch();
        int last = target.lastSequence();
        if (epoch > committed.epoch()) {
            return unknown("the target has epoch " + epoch + " of producer id " + committed.producerId()
                    + ", later than the committed " + committed.epoch());
        }
        boolean hasNothing = epoch < committed.epoch() || last < 0;
        if (hasNothing && committed.nextSequence() == 0) {
            return known(0);
        }
        int written = hasNothing ? -1 : (last + 1 - committed.nextSequence()) & Integer.MAX_VALUE;
        if (written < 0 || written > MOST) {
            return unknown("the target has lost records that it had acknowledged: it is at epoch " + epoch
                    + ", sequence " + last + " of producer id " + committed.producerId() + ", before the committed "
                    + committed.epoch() + ", " + committed.nextSequence());
        }
        return known(written);
    }

    /**
     * Decides if the target does not remember the producer id: it counts all records after the committed target offset.
     *
     * @param end of the target
     */
    static ResumeDecision ofForgotten(ResumePoint committed, long end) {
        String forgotten = "the target has forgotten producer id " + committed.producerId();
        if (committed.targetOffset() == ResumePoint.UNKNOWN) {
            return unknown(forgotten + ", and it is not known where the copy ended there at the last commit");
        }
        if (end < committed.targetOffset()) {
            return unknown(forgotten + " and ends at offset " + end + ", before the committed "
                    + committed.targetOffset() + ": it has lost records, or its topic was created anew");
        }
        return known(end - committed.targetOffset());
    }

    private static ResumeDecision known(long present) {
        return new ResumeDecision(present, "");
    }

    private static ResumeDecision unknown(String reason) {
        return new ResumeDecision(0, reason);
    }

    boolean isKnown() {
        return reason.isEmpty();
    }
}
