package dev.millrace.mirror.member;

import dev.millrace.mirror.copy.PartitionCopier;
import dev.millrace.mirror.refused.RecordWithdrawal;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The records that a {@link SourceGroupMember} has given to the producer and the target has not acknowledged. The
 * member waits for them, or takes them back, when it no longer reads their partitions.
 *
 * <p><b>Threads:</b> the member's thread.
 */
final class InFlightRecords {
    private static final Logger LOG = LoggerFactory.getLogger(InFlightRecords.class);

    /** If the target has acknowledged nothing for this long, waiting longer rarely helps. */
    static final long WITHOUT_PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final PartitionCopier copier;
    private final RecordWithdrawal givenUp;

    InFlightRecords(PartitionCopier copier, RecordWithdrawal givenUp) {
        this.copier = copier;
        this.givenUp = givenUp;
    }

    /** Takes back unwritten records of partitions that are no longer read, and waits for those in flight. */
    void withdraw(Collection<TopicPartition> partitions, long deadlineNanos) {
        while (copier.isSending(partitions) && System.nanoTime() < deadlineNanos) {
            LockSupport.parkNanos(PartitionCopier.CHECK_NANOS);
        }
        copier.advance();
        List<TopicPartition> awaited = copier.awaited(partitions);
        CompletableFuture<Void> done = givenUp.withdraw(awaited);
        try {
            done.get(Math.max(1, deadlineNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            LOG.warn(
                    "The target has not answered for what is in flight of {} in time; it may still write it after what"
                            + " the next owner writes",
                    awaited);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Waits for the records of all partitions while the target acknowledges some, until the deadline at most. It gives
     * up even if nobody has reported yet that the target takes nothing.
     */
    void awaitProgress(long deadlineNanos) {
        long acked = copier.totals().acked();
        long hopeless = System.nanoTime() + WITHOUT_PROGRESS_NANOS;
        while (System.nanoTime() < Math.min(deadlineNanos, hopeless)
                && !copier.await(copier.partitions(), System.nanoTime() + LOOK_NANOS)
                        .isEmpty()) {
            if (copier.totals().acked() > acked) {
                acked = copier.totals().acked();
                hopeless = System.nanoTime() + WITHOUT_PROGRESS_NANOS;
            }
        }
    }
}
