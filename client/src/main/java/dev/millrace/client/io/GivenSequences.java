package dev.millrace.client.io;

import dev.millrace.client.accumulator.PartitionQueue;
import dev.millrace.client.accumulator.SequenceStart;

/**
 * The sequences of one partition, if the application sets them ({@link PartitionQueue#sequenceFrom}). They are never
 * changed here: after a failed batch, all later ones fail until the application sets where to continue. So the sequence
 * of each record depends on the application alone, and a broker takes each at most once, whichever producer sends it.
 * Without given sequences, later batches fail only if the application wants it so ({@link
 * PartitionQueue#stopsAtFailures}), and until it withdraws the partition's records.
 *
 * <p><b>Threads:</b> the partition's I/O thread.
 */
final class GivenSequences {
    private final PartitionQueue queue;
    private SequenceStart applied;
    private RuntimeException failure;

    GivenSequences(PartitionQueue queue) {
        this.queue = queue;
    }

    /** Whether the batches sent last had given sequences. */
    boolean areUsed() {
        return applied != null;
    }

    /** Whether other sequences were given since; the next batch has the first of them. */
    @SuppressWarnings("ReferenceEquality") // the same sequences may be given twice
    boolean areNew() {
        return queue.sequenceStart() != applied;
    }

    /** Returns the sequences that were given last, for the next batch. */
    SequenceStart apply() {
        applied = queue.sequenceStart();
        failure = null;
        return applied;
    }

    /** A batch has failed: it is not written, or may not be. */
    void onFailed(RuntimeException cause) {
        if (areNew()) {
            apply(); // it failed before it got the first sequence
        }
        if (failure == null && (applied != null || queue.stopsAtFailures())) {
            failure = cause;
        }
    }

    /** The application has withdrawn all records, also those that failed. */
    void onWithdrawn() {
        if (applied == null) {
            failure = null;
        }
    }

    /** Returns why batches can no longer be sent; null if they can. */
    RuntimeException failureOrNull() {
        return areNew() ? null : failure;
    }
}
