package dev.millrace.mirror.copy;

import dev.millrace.mirror.control.Turn;
import dev.millrace.mirror.fetch.FetchedBatches;
import dev.millrace.mirror.pass.AckListener;
import dev.millrace.mirror.progress.SourcePositions;
import dev.millrace.mirror.status.StallCause;
import dev.millrace.mirror.topics.TargetPartitions;
import java.util.Optional;
import org.apache.kafka.common.TopicPartition;

/**
 * A partition that a {@link BatchCopier} copies: its copy, the worker that makes it, and what holds it back.
 *
 * <p><b>Threads:</b> the fetch thread calls {@link #copy} and {@link #resetTo}, that of the member the rest.
 *
 * @param start where it began
 * @param share of the memory for what is in flight
 * @param turn under a throttle
 * @param waiting what may not be sent yet
 */
record AssignedCopy(
        TopicPartition partition,
        SourcePositions.Start start,
        PartitionCopy copy,
        CopyWorker worker,
        InFlightMemory.Share share,
        Turn turn,
        WaitingBatches waiting) {

    /** Has its worker copy this, after all that waits. */
    void copy(FetchedBatches fetched) {
        worker.copy(copy, fetched, waiting, share);
    }

    /** What is fetched next begins at this offset. */
    void resetTo(long offset) {
        worker.execute(() -> waiting.add(0, () -> {
            copy.resetTo(offset);
            return true;
        }));
    }

    /** Moves over what has been acknowledged, and has the worker try again what waits; returns the number of records. */
    long advance(AckListener listener) {
        long more = copy.advance(listener);
        share.update(copy.outstandingBytes());
        waiting.resumeIn(worker);
        return more;
    }

    /** Whether something of it is in flight or waits. */
    boolean isBusy() {
        return copy.outstanding() > 0 || waiting.isWaiting();
    }

    /** Why it waits for the target, or null if it does not. */
    StallCause stallOrNull(TargetPartitions targets) {
        if (!isWaitingForTarget(targets)) {
            return null;
        }
        return targets.isReady(partition) ? StallCause.IN_FLIGHT_FULL : StallCause.TARGET_NOT_READY;
    }

    boolean isWaitingForTarget(TargetPartitions targets) {
        return waiting.isWaiting() && !(turn.isWaiting() && targets.isReady(partition));
    }

    /** Where another copy goes on, after the target has been asked what it has. */
    SourcePositions.Start nextStart() {
        return new SourcePositions.Start(
                copy.ackedPosition(),
                Optional.empty(),
                start.topicId(),
                false,
                copy.ackedNumbers(),
                start.isRestored());
    }

    /** Once the copy is stopped: has the worker drop what waits, also what begins to wait just now. */
    void dropWaiting() {
        worker.execute(waiting::doPossible);
    }
}
