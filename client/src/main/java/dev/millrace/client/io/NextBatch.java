package dev.millrace.client.io;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.accumulator.SealCause;

/**
 * Decides whether a partition has a batch to send now, and prepares it. An open batch is sealed only when a request
 * takes it, so that it fills while its broker is busy.
 *
 * <p><b>Threads:</b> the I/O thread.
 */
final class NextBatch {
    private final Accumulator accumulator;
    private final BrokerLink link;
    private final SenderSettings settings;
    private final TransactionShare transactions;

    NextBatch(IoContext context, SenderSettings settings, TransactionShare transactions) {
        this.accumulator = context.accumulator();
        this.link = context.link();
        this.settings = settings;
        this.transactions = transactions;
    }

    /** Whether a batch is ready for broker {@code node}; {@code isTakenAlong} as {@link Place#TAKEN_ALONG}. */
    boolean isReady(PartitionState p, int node, boolean isTakenAlong, long nowMs) {
        return p.candidate(node, nowMs) != null
                || (p.isOpenBatchNext(node, nowMs) && sealCauseOrNull(p, node, isTakenAlong, nowMs) != null);
    }

    /** Whether some open batches are sent although they have not waited for {@code linger.ms}. */
    boolean mayEndLinger() {
        return isUrgent() || accumulator.isShortOfMemory();
    }

    /** Returns why the open batch is sent now, or null if it waits for more records. */
    private SealCause sealCauseOrNull(PartitionState p, int node, boolean isTakenAlong, long nowMs) {
        if (isTakenAlong || isLingerOver(p, nowMs)) {
            return SealCause.LINGER;
        }
        if (isUrgent()) {
            return SealCause.FLUSH;
        }
        return accumulator.isShortOfMemory() && link.inFlightRequests(node) == 0 ? SealCause.MEMORY : null;
    }

    /**
     * Whether the linger is over. Without linger it always is, even if the batch was opened after the round began.
     */
    private boolean isLingerOver(PartitionState p, long nowMs) {
        return p.queue().hasRecords() && (settings.lingerMs() == 0 || p.queue().oldestLingerUntilMs() <= nowMs);
    }

    private boolean isUrgent() {
        return accumulator.isUrgent() || transactions.isUrgent();
    }

    /** Seals the partition's next batch if it is open and splits it if it is too large; null if none can be sent. */
    FinishedBatch prepareOrNull(PartitionState p, int node, ProducerId newest, long nowMs) {
        if (p.isOpenBatchNext(node, nowMs)) {
            SealCause cause = sealCauseOrNull(p, node, p.place == Place.TAKEN_ALONG, nowMs);
            if (cause != null) {
                p.queue().sealOldest(cause);
            }
        }
        FinishedBatch batch = p.candidate(node, nowMs);
        while (batch != null && batch.size() > settings.maxRequestSize() && batch.count() > 1) {
            p.splitUnsent(batch, newest); // it was expected to compress better
            batch = p.candidate(node, nowMs);
        }
        return batch;
    }
}
