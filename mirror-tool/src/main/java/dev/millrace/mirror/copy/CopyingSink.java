package dev.millrace.mirror.copy;

import dev.millrace.mirror.control.TopicControls;
import dev.millrace.mirror.fetch.FetchSink;
import dev.millrace.mirror.fetch.FetchedBatches;
import dev.millrace.mirror.progress.SourceChanges;
import dev.millrace.mirror.status.ThreadCounters;
import dev.millrace.mirror.text.MirrorException;
import java.util.function.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InconsistentTopicIdException;
import org.apache.kafka.common.errors.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands what the fetcher reads to the copy of its partition.
 *
 * <p><b>Threads:</b> the fetch thread.
 */
final class CopyingSink implements FetchSink {
    private static final Logger LOG = LoggerFactory.getLogger(CopyingSink.class);

    private final AssignedCopies copies;
    private final RunningMirror mirror;
    private final TopicControls controls;
    private final SourceChanges changes;
    private final ThreadCounters outcomes;
    private final Consumer<TopicPartition> stopReading;

    /** @param stopReading of a partition with a gap after which the mirror is not to go on */
    CopyingSink(
            AssignedCopies copies,
            RunningMirror mirror,
            SourceChanges changes,
            ThreadCounters outcomes,
            Consumer<TopicPartition> stopReading) {
        this.copies = copies;
        this.mirror = mirror;
        this.controls = mirror.controls();
        this.changes = changes;
        this.outcomes = outcomes;
        this.stopReading = stopReading;
    }

    @Override
    public void onFetched(FetchedBatches fetched) {
        outcomes.addFetched(fetched.size());
        AssignedCopy to = copies.getOrNull(fetched.partition());
        if (to == null) {
            fetched.release(); // given up just now
        } else {
            to.copy(fetched);
        }
    }

    @Override
    public void onOffsetReset(TopicPartition partition, long from, long to, String cause) {
        AssignedCopy moved = copies.getOrNull(partition);
        if (moved == null) {
            return; // given up just now
        }
        boolean isBeginning = moved.start().isNew() && from == 0;
        if (isBeginning || changes.gaps().onMove(partition, from, to, cause)) {
            moved.resetTo(to);
        } else {
            stopReading.accept(partition);
        }
    }

    @Override
    public int maxAhead(TopicPartition partition) {
        return controls.of(partition.topic()).maxAhead();
    }

    @Override
    public void onFailure(TopicPartition partitionOrNull, Throwable failure) {
        if (partitionOrNull != null && failure instanceof InconsistentTopicIdException) {
            changes.identities().askSoon(); // then the member starts the partition again
        } else if (!(failure instanceof RetriableException)) {
            mirror.fail(MirrorException.failed(
                    "Could not read " + (partitionOrNull == null ? "from the source" : partitionOrNull.toString()),
                    failure));
        } else if (partitionOrNull == null) {
            LOG.warn("Reading from the source fails and is tried again: {}", MirrorException.reason(failure));
        } // the fetcher has logged a failure of one partition
    }
}
