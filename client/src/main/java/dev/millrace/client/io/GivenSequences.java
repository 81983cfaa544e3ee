package dev.millrace.client.io;

import dev.millrace.client.accumulator.PartitionQueue;
import dev.millrace.client.accumulator.SequenceStart;

/**
 * The sequences of one partition, if the application sets them ({@link PartitionQueue#numberFrom}). They are never
 * changed here: after a batch that failed, all later ones fail, until the application sets where to go on. So which
 * record has which sequence depends on the application alone, and a broker takes each at most once, whoever sends it.
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

    /** Whether the sequences of the batches sent last were given. */
    boolean areUsed() {
        return applied != null;
    }

    /** Whether others were given since; the next batch has the first of them. */
    @SuppressWarnings("ReferenceEquality") // the same may be given twice
    boolean areNew() {
        return queue.sequenceStart() != applied;
    }

    /** Those that were given last, for the next batch. */
    SequenceStart apply() {
        applied = queue.sequenceStart();
        failure = null;
        return applied;
    }

    /** A batch was not, or perhaps not, written. */
    void onFailed(RuntimeException cause) {
        if (areNew()) {
            apply(); // it failed before it got the first of them
        }
        if (applied != null && failure == null) {
            failure = cause;
        }
    }

    /** Why batches can no longer be sent; null if they can. */
    RuntimeException failureOrNull() {
        return areNew() ? null : failure;
    }
}
