package dev.millrace.mirror.copy;

import dev.millrace.mirror.progress.SourcePositions;
import dev.millrace.mirror.status.MirrorTotals;
import dev.millrace.mirror.status.ThreadCounters;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;

/**
 * Copies the partitions that one member of the group owns, and knows what the target has acknowledged of them.
 *
 * <p><b>Threads:</b> the thread that polls the member's consumer; any thread may call {@link #totals} and {@link
 * #counters}.
 */
public interface PartitionCopier {
    /** How often {@link #await} looks. */
    long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** Begins to copy partitions. */
    void add(Map<TopicPartition, SourcePositions.Start> partitions);

    /** Handles the exception of a poll when the source no longer has positions of the consumer. */
    default void onOutOfRange(OffsetOutOfRangeException thrown) {
        throw thrown;
    }

    /** Takes the records that the consumer returned. */
    void forward(ConsumerRecords<byte[], byte[]> polled);

    /** Returns how long the next poll may wait. */
    Duration pollTimeout();

    /** Returns how long after a poll the next one is not needed, because nothing is read with the consumer. */
    Duration pollPause();

    /**
     * Moves all positions over the outcomes that have arrived since the last call.
     *
     * @return whether there was or is anything to do; false only if no position has moved or can move soon
     */
    boolean advance();

    /**
     * Updates how many records of the source are left, and what stalls. To be called every few seconds.
     *
     * @param notStarted partitions of the member that were not added yet
     */
    void measureLag(long nowNanos, Set<TopicPartition> notStarted);

    /** Returns all partitions that were added and not given up. */
    Set<TopicPartition> partitions();

    /** Reads no further records of these partitions; those that were read are still sent, or will be read again. */
    void stopReading(Collection<TopicPartition> partitions);

    /** Returns whether records of these partitions, which are no longer read, are being handed to the producer now. */
    boolean isSending(Collection<TopicPartition> partitions);

    /** Returns those of the partitions that have records to wait for. */
    List<TopicPartition> awaited(Collection<TopicPartition> partitions);

    /**
     * Waits until all records of the partitions are acknowledged. In a partition with a record that could not be
     * written, it waits only for the records before that one.
     *
     * @return the partitions that still have outstanding records at the deadline
     */
    default List<TopicPartition> await(Collection<TopicPartition> partitions, long deadlineNanos) {
        advance();
        List<TopicPartition> left = awaited(partitions);
        while (!left.isEmpty() && System.nanoTime() < deadlineNanos) {
            LockSupport.parkNanos(CHECK_NANOS);
            advance();
            left = awaited(partitions);
        }
        return left;
    }

    /**
     * Returns the partitions with records that the target has not acknowledged, whether sent or not, each with the
     * source offset before which all is acknowledged; -1 before the first acknowledgement.
     */
    Map<TopicPartition, Long> waiting();

    /** Returns the positions that may be committed. */
    Map<TopicPartition, OffsetAndMetadata> positions(Collection<TopicPartition> partitions);

    /** Forgets partitions that the member no longer owns. A failure of their outstanding records no longer counts. */
    void giveUp(Collection<TopicPartition> partitions);

    /** Forgets all partitions. Records without an outcome stay counted as in flight. */
    void clear();

    /** Returns what has been done so far. */
    MirrorTotals totals();

    /** Returns the counters of the member's thread, with those of its partitions. */
    ThreadCounters counters();

    /** Ends what the copier has started. */
    void close();
}
