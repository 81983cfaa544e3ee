package dev.millrace.mirror.pass;

import dev.millrace.client.raw.RawResult;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;

/**
 * Tracks how far one source partition has been mirrored without a gap: the offset up to which everything sent has been
 * acknowledged. Only that offset may be committed.
 *
 * <p>There is an entry for each batch at the target, not for each record: consecutive records in the same batch share
 * one. The number of entries has no limit here: the producer's {@code buffer.memory} limits the batches that can be
 * outstanding.
 *
 * <p><b>Threads:</b> any; whoever needs several values of one moment synchronizes on this object.
 * <p><b>Ordering:</b> the position is a volatile reference to an immutable object; all else is guarded by this object.
 * The outcome of a batch is read from its {@link RawResult}, which publishes it.
 */
public final class AckedBatches {
    private final ArrayDeque<Entry> entries = new ArrayDeque<>();

    /** The position after everything that was added. */
    private long lastNextOffset = Long.MIN_VALUE;

    /** The batch that was passed last and its record count so far; further records of it may be added later. */
    private RawResult passedResult;

    private int passedRecords;
    private long sent;
    private long acked;
    private long outstandingBytes;
    private AckedRuns runs = AckedRuns.IGNORED;
    private Throwable failure;
    private long targetEnd;
    private volatile OffsetAndMetadata position;

    /** @param targetEnd the value of {@link #targetEnd} until something is acknowledged */
    public AckedBatches(long targetEnd) {
        this.targetEnd = targetEnd;
    }

    /**
     * Source records in one batch at the target. A new stretch begins at each gap in their offsets, which compaction
     * makes.
     */
    private static final class Entry {
        private final RawResult result;
        private final long from;
        /** The number of records of its batch that earlier entries have passed. */
        private final int before;

        private long nextOffset;
        private final long timestamp;
        private int leaderEpoch;
        private int records;
        private long bytes;
        /** For each stretch, its first source offset and the number of records before it. */
        private long[] stretches = new long[2];

        private int stretchEnd;
        private long recordsEnd = Long.MIN_VALUE;

        Entry(RawResult result, long from, int before, long timestamp) {
            this.result = result;
            this.from = from;
            this.before = before;
            this.timestamp = timestamp;
        }

        void addRecords(long firstOffset, int count) {
            if (firstOffset != recordsEnd) {
                if (stretchEnd == stretches.length) {
                    stretches = Arrays.copyOf(stretches, stretchEnd * 2);
                }
                stretches[stretchEnd++] = firstOffset;
                stretches[stretchEnd++] = records;
            }
            records += count;
            recordsEnd = firstOffset + count;
        }

        /** Returns the target offset after its last record, or -1. */
        long targetEnd() {
            long last = result.offsetOf(before + records - 1);
            return last < 0 ? -1 : last + 1;
        }

        void tell(AckedRuns runs) {
            for (int i = 0; i < stretchEnd; i += 2) {
                int first = (int) stretches[i + 1];
                int end = i + 3 < stretchEnd ? (int) stretches[i + 3] : records;
                tell(runs, stretches[i], before + first, end - first);
            }
        }

        private void tell(AckedRuns runs, long source, int first, int count) {
            long target = result.offsetOf(first);
            if (count == 1 || result.offsetOf(first + count - 1) == target + count - 1) {
                runs.onAcknowledged(source, target, count);
                return;
            }
            for (int i = 0; i < count; i++) { // the batch was split, and another producer wrote in between
                runs.onAcknowledged(source + i, result.offsetOf(first + i), 1);
            }
        }
    }

    /** Sets the receiver of the offsets of records that {@link #advance} passes from now on. */
    public synchronized void tell(AckedRuns to) {
        runs = to;
    }

    /**
     * Adds records that were handed to the producer, whose offsets have no gap.
     *
     * @param result result of the batch at the target that holds them; the same object for all records of one batch
     * @param nextOffset the source position after them
     * @param leaderEpoch the leader epoch of their source batch, or -1
     * @param timestamp the latest timestamp of their source batch, or -1
     * @throws IllegalArgumentException if the position does not move forward
     */
    public synchronized void add(
            RawResult result, long nextOffset, int leaderEpoch, int records, long bytes, long timestamp) {
        if (nextOffset <= lastNextOffset) {
            throw backwards(nextOffset);
        }
        Entry last = entries.peekLast();
        if (last == null || last.result != result) {
            last = new Entry(result, lastNextOffset, result == passedResult ? passedRecords : 0, timestamp);
            entries.add(last);
        }
        last.addRecords(nextOffset - records, records);
        last.bytes += bytes;
        outstandingBytes += bytes;
        sent += records;
        moveEnd(last, nextOffset, leaderEpoch);
    }

    /**
     * Skips offsets for which nothing is sent: control batches, aborted and removed records. They count as acknowledged
     * as soon as everything before them is.
     *
     * @throws IllegalArgumentException if the position moves back
     */
    public synchronized void skipTo(long nextOffset, int leaderEpoch) {
        if (nextOffset < lastNextOffset) {
            throw backwards(nextOffset);
        }
        if (nextOffset == lastNextOffset) {
            return; // the last record sent was also the end of its batch
        }
        Entry last = entries.peekLast();
        if (last == null) {
            lastNextOffset = nextOffset;
            publish(nextOffset, leaderEpoch);
        } else {
            moveEnd(last, nextOffset, leaderEpoch);
        }
    }

    /**
     * Sets the offset at which the next addition begins, even before the position: the source's log was truncated or is
     * a different one. The position follows as soon as everything earlier is acknowledged; with the old position, a
     * restarted mirror could skip what is written in the meantime. The leader epoch is kept, so that a restart notices
     * the next truncation; offset 0 has no epoch before it.
     */
    public synchronized void resetTo(long offset) {
        Entry last = entries.peekLast();
        if (last != null) {
            moveEnd(last, offset, offset == 0 ? -1 : last.leaderEpoch);
        } else {
            lastNextOffset = offset;
            boolean isEpochKnown = position != null && offset > 0;
            publish(offset, isEpochKnown ? position.leaderEpoch().orElse(-1) : -1);
        }
    }

    private void moveEnd(Entry last, long nextOffset, int leaderEpoch) {
        last.nextOffset = nextOffset;
        last.leaderEpoch = leaderEpoch;
        lastNextOffset = nextOffset;
    }

    /**
     * Moves the position over the batches acknowledged since the last call; returns the number of their records.
     *
     * @param listener is called for each, while this object is locked
     */
    public synchronized long advance(AckListener listener) {
        long before = acked;
        Entry passed = null;
        Entry next = entries.peek();
        while (failure == null && next != null && next.result.isDone()) {
            failure = next.result.failureOrNull();
            if (failure == null) {
                passed = entries.remove();
                acked += passed.records;
                outstandingBytes -= passed.bytes;
                passedResult = passed.result;
                passedRecords = passed.before + passed.records;
                listener.onAcked(passed.records, passed.bytes, passed.timestamp, passed.result.doneAtMs());
                if (runs != AckedRuns.IGNORED) {
                    passed.tell(runs);
                }
                next = entries.peek();
            }
        }
        if (passed != null) {
            targetEnd = passed.targetEnd();
            publish(passed.nextOffset, passed.leaderEpoch);
        }
        return acked - before;
    }

    /**
     * Returns the position from which a consumer reads everything that is not acknowledged, as of the last {@link
     * #advance}; null as long as nothing is acknowledged.
     */
    public OffsetAndMetadata positionOrNull() {
        return position;
    }

    /** Returns what {@link #positionOrNull} will be once everything added is acknowledged. */
    public synchronized OffsetAndMetadata endOrNull() {
        Entry last = entries.peekLast();
        return last == null ? position : position(last.nextOffset, last.leaderEpoch);
    }

    /** Returns how many of all records are before the position, as of the last {@link #advance}. */
    public synchronized long acked() {
        return acked;
    }

    /** Returns the target offset after the last record before the position; -1 if unknown. */
    public synchronized long targetEnd() {
        return targetEnd;
    }

    /** Whether each batch has a result, including failures. */
    public synchronized boolean isSettled() {
        return entries.stream().allMatch(entry -> entry.result.isDone());
    }

    /** Returns the number of sent records that the last {@link #advance} did not pass. */
    public synchronized long outstanding() {
        return sent - acked;
    }

    /** Returns the bytes of these records. */
    public synchronized long outstandingBytes() {
        return outstandingBytes;
    }

    /**
     * Returns why the first unacknowledged batch failed, if the last {@link #advance} reached a failed one; else null.
     * Everything before it is acknowledged, and the position will never pass it.
     */
    public synchronized Throwable failureOrNull() {
        return failure;
    }

    /** Returns the offset where the batch of {@link #failureOrNull} begins; empty if it is the first. */
    public synchronized OptionalLong failedOffset() {
        long from = entries.element().from;
        return from == Long.MIN_VALUE ? OptionalLong.empty() : OptionalLong.of(from);
    }

    /** Returns the source position after the records of the batch of {@link #failureOrNull}. */
    public synchronized long failedNextOffset() {
        return entries.element().nextOffset;
    }

    /** Returns how many records the batch of {@link #failureOrNull} had. */
    public synchronized int failedRecords() {
        return entries.element().records;
    }

    /** Returns how many of these, counted from the first, the target has nevertheless. */
    public synchronized int writtenOfFailed() {
        return entries.element().result.acknowledgedBeforeFailure();
    }

    /** Whether batches are outstanding that the position may still pass. */
    public synchronized boolean isAwaited() {
        return !entries.isEmpty() && failure == null;
    }

    private void publish(long nextOffset, int leaderEpoch) {
        position = position(nextOffset, leaderEpoch);
    }

    private static OffsetAndMetadata position(long nextOffset, int leaderEpoch) {
        return new OffsetAndMetadata(nextOffset, leaderEpoch < 0 ? Optional.empty() : Optional.of(leaderEpoch), "");
    }

    private IllegalArgumentException backwards(long nextOffset) {
        return new IllegalArgumentException("Position " + nextOffset + " is not after " + lastNextOffset
                + ": what is in between would be committed twice, or before it is acknowledged");
    }
}
