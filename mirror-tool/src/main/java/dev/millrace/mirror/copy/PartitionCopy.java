package dev.millrace.mirror.copy;

import dev.millrace.client.raw.RawProducerId;
import dev.millrace.client.raw.RawResult;
import dev.millrace.mirror.copy.GuardedPartition.NoMemoryException;
import dev.millrace.mirror.fetch.AbortedTxn;
import dev.millrace.mirror.fetch.FetchedBatches;
import dev.millrace.mirror.pass.AbortedFilter;
import dev.millrace.mirror.pass.AckListener;
import dev.millrace.mirror.pass.AckedBatches;
import dev.millrace.mirror.pass.AckedRuns;
import dev.millrace.mirror.pass.OpenReason;
import dev.millrace.mirror.pass.RecordCursor;
import dev.millrace.mirror.pass.SourceBatch;
import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import dev.millrace.mirror.progress.SourcePositions;
import dev.millrace.mirror.refused.RecordWithdrawal.GivenUpException;
import dev.millrace.mirror.refused.RefusedRecordSearch;
import dev.millrace.mirror.refused.UnreadableBatch;
import dev.millrace.mirror.text.MirrorException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.utils.Utils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies one source partition to the same partition of the target: each batch is passed unchanged, or opened and its
 * records appended. Knows how far the target has acknowledged it.
 *
 * <p><b>Threads:</b> the partition's worker calls {@link #tryOpen}, {@link #copy} and {@link #resetTo}, any thread
 * {@link #position}, {@link #isStopped} and {@link #outstandingBytes}, the member's thread the rest.
 * <p><b>Ordering:</b> the worker sets {@code copying} and then reads {@code stopped}; the other thread sets {@code
 * stopped} and then reads {@code copying}. So once it has seen both stopped and not copying, nothing more is sent. The
 * worker sets {@code stopped}, too, after a failure; no thread clears it.
 */
public final class PartitionCopy {
    private static final Logger LOG = LoggerFactory.getLogger(PartitionCopy.class);
    private static final long NO_TIMESTAMP = -1;
    private static final ByteBuffer NO_BYTES = ByteBuffer.allocate(0);

    private final TopicPartition partition;
    private final long start;
    private final Optional<ResumePoint> resumePoint;
    private final CopyTarget target;
    private final boolean checksCrc;
    private final boolean goesBack;
    private final AckedBatches acked;
    private volatile Refused refused;
    private volatile boolean stopped;
    private volatile boolean copying;
    private volatile long position;
    /** The codec of the last compressed batch, as the target gets it; 0, which is none, before the first. */
    private volatile int codecId;

    // Used by the worker only.
    private CopyTarget.OpenTarget open;
    /** Whether the rest of the fetched batches is still to be copied. */
    private boolean isBegun;
    /** Batches before this offset have been counted, even if they are not written yet. */
    private long countedTo;

    /**
     * The part of a source batch that this process could not write or read.
     *
     * @param from the first offset of it that was not copied before
     * @param bytesOrNull of the batch, if its records cannot be read
     */
    private record Refused(long from, long next, int records, RuntimeException cause, byte[] bytesOrNull) {}

    /**
     * @param position the source offset from which on it is copied
     * @param resumePoint producer id, epoch and sequence of the record there; empty if the producer assigns sequences
     *     itself
     * @param goesBack whether a {@link RefusedRecordSearch} copies again what is refused; needs {@code resumePoint}, and
     *     corrupt batches must be detected here
     */
    PartitionCopy(
            TopicPartition partition,
            long position,
            Optional<ResumePoint> resumePoint,
            boolean checksCrc,
            boolean goesBack,
            CopyTarget target) {
        this.resumePoint = resumePoint;
        this.acked = new AckedBatches(resumePoint.map(ResumePoint::targetOffset).orElse(ResumePoint.UNKNOWN));
        this.goesBack = goesBack;
        this.partition = partition;
        this.start = position;
        this.position = position;
        this.checksCrc = checksCrc || goesBack;
        this.target = target;
    }

    /** Sets the listener for where acknowledged records are at the target. To be called first. */
    void tell(AckedRuns runs) {
        acked.tell(runs);
    }

    // ---- the worker ----

    /** Opens the target if necessary; returns whether it is open. To be called before the first {@link #copy}. */
    boolean tryOpen() {
        if (open == null) {
            CopyTarget.OpenTarget opened = target.openOrNull(partition);
            if (opened == null) {
                return false;
            }
            copying = true; // set before stopped is read: after a stop, a successor may set the sequences
            try {
                if (stopped) {
                    return false;
                }
                resumePoint.ifPresent(first -> opened.raw()
                        .sequenceFrom(new RawProducerId(first.producerId(), first.epoch()), first.nextSequence()));
                open = new CopyTarget.OpenTarget(new PatientPartition(opened.raw(), () -> stopped), opened.decision());
            } finally {
                copying = false;
            }
        }
        return true;
    }

    /**
     * Sends the fetched batches, unless the copy has been stopped, while there is room and memory; releases them when
     * it is done. If a batch fails, nothing after it is sent: the target would acknowledge that, and the missing batch
     * would be committed with it.
     *
     * @return whether it is done; if not, it is to be called for the rest, before anything else
     */
    boolean copy(FetchedBatches fetched, CopyWorker worker, InFlightMemory.Share share) {
        target.enter(); // before it reads whether it is stopped
        copying = true;
        boolean hasFailed = true;
        try {
            isBegun = !stopped && !send(fetched, worker, share);
            hasFailed = false;
        } catch (NoMemoryException e) {
            isBegun = true;
            hasFailed = false;
        } catch (BufferExhaustedException | GivenUpException e) {
            LOG.debug("{} was given up at offset {}", partition, position, e);
        } catch (RuntimeException e) {
            throw MirrorException.failed(
                    "Could not write " + partition.topic() + " partition " + partition.partition() + " offset "
                            + position,
                    e);
        } finally {
            if (hasFailed) {
                stopped = true;
                isBegun = false;
            }
            copying = false;
            target.exit();
            worker.batch().wrap(NO_BYTES); // or an idle worker would keep a whole response in memory
            if (!isBegun) {
                fetched.release();
            }
        }
        return !isBegun;
    }

    /** Returns false if there is no room for the rest. */
    private boolean send(FetchedBatches fetched, CopyWorker worker, InFlightMemory.Share share) {
        if (!isBegun) {
            position = fetched.fetchOffset();
        }
        AbortedFilter filter = worker.filter();
        filter.onAnswer();
        for (AbortedTxn aborted : fetched.aborted()) {
            filter.addAborted(aborted.producerId(), aborted.firstOffset());
        }
        SourceBatch batch = worker.batch();
        batch.wrap(fetched.bytes());
        while (!stopped && batch.moveToNext()) {
            filter.onBatch(batch);
            if (batch.nextOffset() > position) {
                if (share.room(outstandingBytes()) <= 0) {
                    return false;
                }
                if (!tryCopy(batch, worker)) {
                    return true;
                }
                position = batch.nextOffset();
            }
        }
        return true;
    }

    /** Returns false if nothing after it may be sent. */
    private boolean tryCopy(SourceBatch batch, CopyWorker worker) {
        try {
            copy(batch, worker);
            return true;
        } catch (RecordTooLargeException | CorruptRecordException e) {
            if (!goesBack) {
                throw e;
            }
            boolean isDamaged = e instanceof CorruptRecordException;
            refused = new Refused(
                    position,
                    isDamaged ? batch.nextOffsetOfDamaged(position) : batch.nextOffset(),
                    Math.max(1, batch.count()),
                    e,
                    isDamaged ? Utils.toArray(batch.bytes()) : null);
            stopped = true;
            return false;
        }
    }

    private void copy(SourceBatch batch, CopyWorker worker) {
        if (batch.isControl() || worker.filter().isAborted(batch)) {
            worker.batches().onSkipped();
            skipTo(batch);
            return;
        }
        boolean isCounted = batch.nextOffset() <= countedTo; // and is tried again
        if (!isCounted) {
            countedTo = batch.nextOffset();
            if (!batch.isOldFormat()) { // the count of old formats is not known
                worker.observer().onPolled(batch.count());
            }
            open.decision().onBatch(batch);
            int codecOfBatch = open.decision().codecIdOfOpened(batch);
            if (codecOfBatch != 0 && codecOfBatch != codecId) {
                codecId = codecOfBatch;
            }
        }
        OpenReason reason = open.decision().reasonToOpenOrNull(batch, position);
        if (reason == null) {
            if (checksCrc) {
                batch.checkIntegrity();
            }
            add(open.raw().pass(batch.bytes()), batch.nextOffset(), batch, batch.count(), batch.size());
            worker.batches().onPassed();
            worker.records().addSent(batch.count(), batch.size());
        } else {
            if (!isCounted) {
                worker.batches().onOpened(reason);
            }
            append(batch, worker);
        }
    }

    private void append(SourceBatch batch, CopyWorker worker) {
        RecordCursor cursor = worker.cursor();
        RawResult result = null;
        long next = 0;
        int records = 0;
        long bytes = 0;
        int sent = 0;
        long sentBytes = 0;
        try {
            cursor.open(batch, position);
            open.raw().compressWith(open.decision().codecIdOfOpened(batch));
            while (cursor.moveNext()) {
                // Records of the oldest format have no timestamp; like records without one, they get the time of
                // sending.
                long timestamp = cursor.timestamp() == NO_TIMESTAMP ? System.currentTimeMillis() : cursor.timestamp();
                RawResult appended = open.raw().append(timestamp, cursor.array(), cursor.start(), cursor.length());
                if (records > 0 && (appended != result || cursor.offset() != next)) { // or there is a gap
                    add(result, next, batch, records, bytes);
                    sent += records;
                    sentBytes += bytes;
                    records = 0;
                    bytes = 0;
                }
                result = appended;
                next = cursor.offset() + 1;
                records++;
                bytes += cursor.length();
            }
        } finally {
            if (records > 0) {
                add(result, next, batch, records, bytes);
                position = next; // from here the rest goes on after a lack of memory
            }
            worker.records().addSent(sent + records, sentBytes + bytes);
            cursor.close();
        }
        skipTo(batch);
    }

    /** Adds records that follow one another without a gap. */
    private void add(RawResult result, long nextOffset, SourceBatch batch, int records, long bytes) {
        acked.add(result, nextOffset, batch.leaderEpoch(), records, bytes, batch.maxTimestamp());
    }

    private void skipTo(SourceBatch batch) {
        acked.skipTo(batch.nextOffset(), batch.leaderEpoch());
    }

    /**
     * Notes that the next fetch begins at this offset, even if that is before what was copied. Has no effect once the
     * copy has been stopped: what was fetched before may not have been sent, and must not be committed as if it had.
     */
    void resetTo(long offset) {
        if (stopped) {
            return;
        }
        position = offset;
        countedTo = offset;
        acked.resetTo(offset);
    }

    // ---- the member's thread ----

    /** Sends nothing more, except what the worker is about to send. */
    void stop() {
        stopped = true;
    }

    boolean isStopped() {
        return stopped;
    }

    /** Returns whether the worker is sending now; once stopped and not copying, nothing more is sent. */
    boolean isCopying() {
        return copying;
    }

    /** Returns whether there are records to wait for; once stopped and not awaited, nothing more is sent. */
    boolean isAwaited() {
        return copying || acked.isAwaited();
    }

    /** Moves over what has been acknowledged, and reports it; returns the number of its records. */
    long advance(AckListener listener) {
        return acked.advance(listener);
    }

    long outstanding() {
        return acked.outstanding();
    }

    /** Returns the bytes of the outstanding records, as the target gets them. */
    long outstandingBytes() {
        return acked.outstandingBytes();
    }

    /**
     * Returns why a batch could not be written, once all before it is acknowledged, as of the last {@link #advance}; or
     * null.
     */
    Throwable failureOrNull() {
        synchronized (acked) {
            if (acked.failureOrNull() != null) {
                return acked.failureOrNull();
            }
            return refused == null || acked.isAwaited() ? null : refused.cause;
        }
    }

    /**
     * Returns the task of the {@link RefusedRecordSearch} that a {@link #failureOrNull} requires.
     *
     * @param begun where this copy began
     */
    RefusedRecordSearch.Task searchTask(SourcePositions.Start begun) {
        synchronized (acked) {
            boolean hasFailed = acked.failureOrNull() != null;
            long from =
                    hasFailed ? acked.failedOffset().orElse(ackedPosition()) : Math.max(refused.from, ackedPosition());
            SourcePositions.Start start = from == begun.offset()
                    ? begun
                    : begun.movedTo(
                            from == ackedPosition()
                                    ? ackedOrNull()
                                    : new OffsetAndMetadata(from, Optional.empty(), ""));
            boolean isUnreadable = !hasFailed && refused.bytesOrNull != null;
            return new RefusedRecordSearch.Task(
                    partition,
                    start,
                    hasFailed ? acked.failedNextOffset() : refused.next,
                    ackedResumePoint().orElseThrow().after(0, from, acked.targetEnd()),
                    // If the last records of a batch were not noted yet, more may be there; then the target is asked.
                    hasFailed ? Math.min(acked.writtenOfFailed(), acked.failedRecords()) : 0,
                    hasFailed ? acked.failedRecords() : 0,
                    OptionalInt.of(codecId),
                    isUnreadable
                            ? new UnreadableBatch(
                                    from, refused.next, refused.records, refused.bytesOrNull, refused.cause)
                            : null);
        }
    }

    /** Returns the source offset up to which everything is acknowledged, as of the last {@link #advance}. */
    long ackedPosition() {
        OffsetAndMetadata known = ackedOrNull();
        return known == null ? start : known.offset();
    }

    /** Returns the producer id, epoch and sequence for {@link #ackedOrNull}, or for the start while that is null. */
    Optional<ResumePoint> ackedResumePoint() {
        synchronized (acked) {
            return resumePoint.map(first -> first.after(acked.acked(), ackedPosition(), acked.targetEnd()));
        }
    }

    /** Returns the source position after all that was sent, or null. */
    OffsetAndMetadata sentOrNull() {
        return acked.endOrNull();
    }

    /** Hands over the position that may be committed, if there is one, with its producer id, epoch and sequence. */
    void takeAcked(BiConsumer<OffsetAndMetadata, Optional<ResumePoint>> use) {
        synchronized (acked) {
            if (ackedOrNull() != null) {
                use.accept(ackedOrNull(), ackedResumePoint());
            }
        }
    }

    /**
     * Returns whether the worker has ended its work and every batch has an outcome. To be called for a stopped copy.
     */
    boolean isSettled() {
        return !copying && acked.isSettled();
    }

    /** Returns the position that may be committed, or null. */
    OffsetAndMetadata ackedOrNull() {
        return acked.positionOrNull();
    }

    /** Returns the next source offset to be sent. */
    long position() {
        return position;
    }
}
