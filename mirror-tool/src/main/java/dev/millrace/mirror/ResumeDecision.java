package dev.millrace.mirror;

import dev.millrace.mirror.CommitMetadata.ResumePoint;
import java.util.Optional;
import org.apache.kafka.clients.admin.ProducerState;

/**
 * How many records after the committed offset the target says to have already.
 *
 * @param present their number, if {@code isKnown}
 * @param isForgotten the target knows nothing of the producer id; that is no obstacle if the source has nothing new
 * @param reason why the number is not known, for an operator; empty if it is
 */
record ResumeDecision(long present, boolean isForgotten, String reason) {
    /** Sequences wrap. So many cannot have been written since a commit: the target is before it instead. */
    private static final int MOST = 1 << 30;

    /** @param target what it has of the producer id, if anything */
    static ResumeDecision of(ResumePoint committed, Optional<ProducerState> target) {
        int epoch = target.map(ProducerState::producerEpoch).orElse(-1);
        int last = target.map(ProducerState::lastSequence).orElse(-1);
        if (epoch > committed.epoch()) {
            return unknown("the target has epoch " + epoch + " of producer id " + committed.producerId()
                    + ", later than the committed " + committed.epoch());
        }
        boolean hasNothing = epoch < committed.epoch() || last < 0;
        if (hasNothing && committed.nextSequence() == 0) {
            return known(0);
        }
        if (target.isEmpty()) {
            return new ResumeDecision(
                    0,
                    true,
                    "the target has forgotten producer id " + committed.producerId()
                            + " (after producer.id.expiration.ms, or the topic was created anew)");
        }
        int written = hasNothing ? -1 : (last + 1 - committed.nextSequence()) & Integer.MAX_VALUE;
        if (written < 0 || written > MOST) {
            return unknown("the target has lost records that it had acknowledged: it is at epoch " + epoch
                    + ", sequence " + last + " of producer id " + committed.producerId() + ", before the committed "
                    + committed.epoch() + ", " + committed.nextSequence());
        }
        return known(written);
    }

    private static ResumeDecision known(long present) {
        return new ResumeDecision(present, false, "");
    }

    private static ResumeDecision unknown(String reason) {
        return new ResumeDecision(0, false, reason);
    }

    boolean isKnown() {
        return reason.isEmpty();
    }
}
