package dev.millrace.client.accumulator;

import dev.millrace.client.delivery.DeliveryCertainty;

/**
 * Tracks what the attempts to send a batch prove: how many there were, and whether one of them may have written it.
 *
 * <p><b>Threads:</b> the I/O thread.
 */
final class BrokerWrites {
    private int attempts;
    private int sentInTerm;
    private boolean inFlight;

    /** An attempt ended without telling whether it wrote the batch. */
    private boolean isPossiblyWritten;

    /** Since the last of these attempts, the leader has said that the batch is not in its log. */
    private boolean isAbsent;

    /** Returns the writes of a part of the batch: if the whole may be written, so may the part. */
    BrokerWrites forPart() {
        BrokerWrites part = new BrokerWrites();
        part.isPossiblyWritten = isPossiblyWritten;
        part.isAbsent = isAbsent;
        return part;
    }

    void markSent(int leaderTerm) {
        attempts++;
        sentInTerm = leaderTerm;
        inFlight = true;
    }

    void onRequestEnded(boolean nothingWritten) {
        if (inFlight && !nothingWritten) {
            isPossiblyWritten = true;
            isAbsent = false;
        }
        inFlight = false;
    }

    void onAbsent() {
        isAbsent = true;
    }

    /** The absence no longer counts, because a request that arrived late may have written the batch since. */
    void onAbsenceOver() {
        isAbsent = false;
    }

    int attempts() {
        return attempts;
    }

    int sentInTerm() {
        return sentInTerm;
    }

    boolean isInFlight() {
        return inFlight;
    }

    /** Returns the evidence about a batch that is not acknowledged. */
    Evidence evidence() {
        if (inFlight || (isPossiblyWritten && !isAbsent)) {
            return Evidence.UNKNOWN;
        }
        return attempts == 0 ? Evidence.NEVER_SENT : Evidence.UNWRITTEN;
    }

    /** Returns what is known about the records if the batch fails now. Lost records may have been read before. */
    DeliveryCertainty certaintyOfFailure() {
        return isPossiblyWritten || inFlight ? DeliveryCertainty.POSSIBLY_PERSISTED : DeliveryCertainty.NOT_PERSISTED;
    }
}
