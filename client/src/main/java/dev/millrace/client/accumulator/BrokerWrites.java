package dev.millrace.client.accumulator;

import dev.millrace.client.delivery.DeliveryCertainty;

/**
 * What is known of a batch's writes at the broker: how often it was sent, and whether an attempt may have written it.
 *
 * <p><b>Threads:</b> the I/O thread.
 */
final class BrokerWrites {
    private int attempts;
    private int sentInTerm;
    private boolean inFlight;

    /** An attempt ended without telling whether it wrote the batch. */
    private boolean isPossiblyWritten;

    /** Null unless the batch is a part of one that may have been written. */
    private WholeMayBeWritten doubt;

    /** For a part of the batch: what may be written of the whole may be written of the part. */
    BrokerWrites forPart() {
        BrokerWrites part = new BrokerWrites();
        part.isPossiblyWritten = isPossiblyWritten;
        part.doubt = doubt;
        return part;
    }

    void markSent(int leaderTerm) {
        attempts++;
        sentInTerm = leaderTerm;
        inFlight = true;
    }

    void onRequestEnded(boolean nothingWritten) {
        isPossiblyWritten |= inFlight && !nothingWritten;
        inFlight = false;
    }

    /** Call before {@link #forPart}. */
    void beforeSplit() {
        doubt = isPossiblyWritten ? new WholeMayBeWritten(doubt) : doubt;
    }

    boolean isDoubtful() {
        return doubt != null && doubt.isOpen();
    }

    void markWritten() {
        if (doubt != null) {
            doubt.resolve();
        }
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

    /** What can be said of the records if the batch fails now. */
    DeliveryCertainty certaintyOfFailure() {
        return isPossiblyWritten || inFlight ? DeliveryCertainty.POSSIBLY_PERSISTED : DeliveryCertainty.NOT_PERSISTED;
    }

    /**
     * Whether a batch was written before it was split. Its parts share this: if the broker writes one of them, the
     * whole was not written.
     */
    private static final class WholeMayBeWritten {
        private final WholeMayBeWritten outer;
        private boolean open = true;

        WholeMayBeWritten(WholeMayBeWritten outer) {
            this.outer = outer;
        }

        boolean isOpen() {
            return open || (outer != null && outer.isOpen());
        }

        void resolve() {
            open = false;
            if (outer != null) {
                outer.resolve();
            }
        }
    }
}
