package dev.millrace.client.accumulator;

import dev.millrace.client.delivery.DeliveryCertainty;

/**
 * What the attempts to send a batch prove: how often it was sent, and whether one of them may have written it.
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

    /** For a part of the batch: what may be written of the whole may be written of the part. */
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

    /** That it was not in the log does not count any more: a request that came late may have written it since. */
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

    /** Of a batch that is not acknowledged. */
    Evidence evidence() {
        if (inFlight || (isPossiblyWritten && !isAbsent)) {
            return Evidence.UNKNOWN;
        }
        return attempts == 0 ? Evidence.NEVER_SENT : Evidence.UNWRITTEN;
    }

    /** What can be said of the records if the batch fails now. What is lost may have been read before. */
    DeliveryCertainty certaintyOfFailure() {
        return isPossiblyWritten || inFlight ? DeliveryCertainty.POSSIBLY_PERSISTED : DeliveryCertainty.NOT_PERSISTED;
    }
}
