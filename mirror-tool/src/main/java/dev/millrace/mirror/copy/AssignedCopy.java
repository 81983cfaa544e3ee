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
 * A partition that a {@link BatchCopier} copies: its copy, the worker that makes it, and what delays it.
 *
 * <p><b>Threads:</b> the fetch thread calls {@link #copy} and {@link #resetTo}, the member's thread the rest.
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

    /** Has the worker copy the fetched batches after everything that waits. */
    void copy(FetchedBatches fetched) {
        worker.copy(copy, fetched, waiting, share);
    }

    /** Notes that the next fetch begins at this offset. */
    void resetTo(long offset) {
        worker.execute(() -> waiting.add(0, () -> {
            copy.resetTo(offset);
            return true;
        }));
    }

    /** Moves over what has been acknowledged, and has the worker retry what waits; returns the number of records. */
    long advance(AckListener listener) {
        long more = copy.advance(listener);
        share.update(copy.outstandingBytes());
        waiting.resumeIn(worker);
        return more;
    }

    /** Returns whether records of the partition are in flight, wait, or are being sent. */
    boolean isBusy() {
        return copy.outstanding() > 0 || waiting.isBusy();
    }

    /** Returns why the partition waits for the target, or null if it does not. */
    StallCause stallOrNull(TargetPartitions targets) {
        if (!isWaitingForTarget(targets)) {
            return null;
        }
        return targets.isReady(partition) ? StallCause.IN_FLIGHT_FULL : StallCause.TARGET_NOT_READY;
    }

    boolean isWaitingForTarget(TargetPartitions targets) {
        return waiting.isWaiting() && !(turn.isWaiting() && targets.isReady(partition));
    }

    /** Returns where another copy goes on, after the target has been asked what it has. */
    SourcePositions.Start nextStart() {
        return new SourcePositions.Start(
                copy.ackedPosition(),
                Optional.empty(),
                start.topicId(),
                false,
                copy.ackedResumePoint(),
                start.isRestored());
    }

    /** Has the worker drop what waits, and what begins to wait just now. To be called once the copy is stopped. */
    void dropWaiting() {
        worker.execute(waiting::doPossible);
    }
}
