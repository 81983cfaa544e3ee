package dev.millrace.mirror.refused;

import dev.millrace.client.raw.RawPartition;
import dev.millrace.client.raw.RawProducer;
import dev.millrace.client.raw.RawProducerId;
import dev.millrace.mirror.config.RefusalPolicy;
import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.pass.CopiedRecord;
import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import dev.millrace.mirror.progress.SourcePositions;
import dev.millrace.mirror.refused.RecordWithdrawal.GivenUpException;
import dev.millrace.mirror.resume.ExactResume;
import dev.millrace.mirror.resume.NewProducerEpochs;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.topics.TargetPartitions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;

/**
 * Searches a stretch of a partition for the records that the target refuses. It copies the stretch again, a few records
 * at a time, and waits each time for the outcome, until it knows which records the target refuses. The {@link
 * RefusalPolicy} decides about these.
 *
 * <p>Nothing is written twice: the search sets all sequences, so after a refused batch the target takes nothing of the
 * partition until the search sets the sequence to go on with. A refused record leaves no gap in the sequences; after it
 * the position is committed before the next record is sent, so that a process that is started after a kill does not
 * count it.
 *
 * <p><b>Threads:</b> one thread calls {@link #run}, which blocks; the member's thread calls the rest.
 * <p><b>Ordering:</b> what both use is volatile, here or in {@link SearchProgress}. {@code run} sets {@code sending}
 * and then reads {@code stopped}; {@link #stop} sets {@code stopped} before {@link #isSending} reads {@code sending}.
 */
public final class RefusedRecordSearch implements Runnable {
    private static final int FIRST_GROUP = 64;
    private static final int LARGEST_GROUP = 512;
    private static final int MAX_GROUP_BYTES = 1 << 20;
    private static final long PAUSE_MS = 50;

    private final Task task;
    private final Context context;
    private final TopicPartition partition;
    private final RefusalPolicy policy;
    private volatile boolean stopped;
    private volatile boolean sending;
    private final SearchProgress progress;
    private volatile End end;

    // Used by run only.
    private final Map<Long, Throwable> known = new HashMap<>();
    private final RefusedRecordHandler leftOut;
    private boolean needsSequence = true;
    private boolean hasHole;
    private int group = FIRST_GROUP;

    /**
     * The stretch to copy.
     *
     * @param start where it begins
     * @param until the source offset before which it ends
     * @param resumePoint producer id, epoch and sequence of the record at the start
     * @param written how many of the first records the target has already
     * @param records how many there are, if {@code written} is not 0
     * @param codecId the codec that its batches had, which decides how large its records are for the target; empty if
     *     that is not known, and they are compressed as the producer is told
     * @param unreadableOrNull the batch that is to be left out; then nothing is read
     */
    public record Task(
            TopicPartition partition,
            SourcePositions.Start start,
            long until,
            ResumePoint resumePoint,
            int written,
            int records,
            OptionalInt codecId,
            UnreadableBatch unreadableOrNull) {}

    /** What all searches use. */
    public record Context(
            Producer<byte[], byte[]> producer,
            TopicNames names,
            StretchReaders readers,
            TargetPartitions targets,
            RefusedRecordReport refused,
            DeadLetters deadLetters,
            NewProducerEpochs newEpochs,
            Consumer<Throwable> onFailure) {
        /**
         * Sets producer id, epoch and sequence of the partition's next record; no record may be waiting to be sent.
         * Returns false if the producer does not find the partition now. Blocks for {@code max.block.ms} at most.
         */
        public boolean trySetSequence(TopicPartition partition, ResumePoint resumePoint) {
            try {
                open(partition)
                        .sequenceFrom(
                                new RawProducerId(resumePoint.producerId(), resumePoint.epoch()),
                                resumePoint.nextSequence());
                return true;
            } catch (RetriableException e) {
                targets.onMissing(partition);
                return false;
            }
        }

        private RawPartition open(TopicPartition partition) {
            return RawProducer.of(producer).partition(names.onTarget(partition.topic()), partition.partition());
        }
    }

    /** How the search ended. */
    enum End {
        /** All is copied, and the position after it is committed. */
        COPIED,
        /** The target expects another sequence, or the source's records have changed: the target has to be asked. */
        SEQUENCE_UNKNOWN,
        /** The policy says that nothing more is copied. */
        PARTITION_STOPPED,
        /** The search was told to stop, or has failed. */
        ABANDONED
    }

    RefusedRecordSearch(Task task, Context context) {
        this.task = task;
        this.context = context;
        this.partition = task.partition();
        this.policy = context.refused().policies().of(partition.topic());
        this.leftOut =
                new RefusedRecordHandler(partition, context.refused(), context.deadLetters(), this::pauseUnlessStopped);
        this.progress = new SearchProgress(task.start(), task.resumePoint());
    }

    // ---- its own thread ----

    @Override
    public void run() {
        End how = End.ABANDONED;
        try {
            how = task.unreadableOrNull() == null ? copy() : leaveOut(task.unreadableOrNull());
        } catch (StopException e) {
            how = End.ABANDONED;
        } catch (Throwable failure) {
            context.readers().closeOfThread();
            if (!stopped) {
                context.onFailure().accept(failure);
            }
        } finally {
            end = how;
        }
    }

    /** Ends {@link #run} from any depth. */
    private static final class StopException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        StopException() {
            super(null, null, false, false);
        }
    }

    private End copy() {
        StretchReader reader = context.readers().ofThread();
        try {
            reader.begin(partition, task.start().offset(), task.until());
            if (!skipWritten(reader)) {
                return End.SEQUENCE_UNKNOWN;
            }
            List<ConsumerRecord<byte[], byte[]>> read = reader.nextOrNull(this::isStopped);
            while (read != null) {
                End how = copy(read);
                if (how != null) {
                    return how;
                }
                settleRefused();
                read = reader.nextOrNull(this::isStopped);
            }
            throwIfStopped();
            progress.moveTo(reader.position());
        } finally {
            reader.end();
        }
        awaitCommit();
        return End.COPIED;
    }

    /** Returns false if the source no longer has as many records there as were sent: then counting proves nothing. */
    private boolean skipWritten(StretchReader reader) {
        if (task.written() == 0) {
            return true;
        }
        List<ConsumerRecord<byte[], byte[]>> all = new ArrayList<>();
        for (var read = reader.nextOrNull(this::isStopped); read != null; read = reader.nextOrNull(this::isStopped)) {
            all.addAll(read);
        }
        throwIfStopped();
        if (all.size() != task.records()) {
            return false;
        }
        long from = progress.now().position().offset();
        progress.moveOverWritten(all.subList(0, task.written()), ResumePoint.UNKNOWN);
        reader.begin(partition, Math.max(from, progress.now().position().offset()), task.until());
        return true;
    }

    /** Returns null if all are copied, or how the search ended. */
    private End copy(List<ConsumerRecord<byte[], byte[]>> read) {
        int next = 0;
        while (next < read.size()) {
            throwIfStopped();
            ConsumerRecord<byte[], byte[]> first = read.get(next);
            Throwable refusal = known.remove(first.offset());
            if (refusal != null) {
                if (policy == RefusalPolicy.STOP_PARTITION) {
                    context.refused().onPartitionStopped(partition, first.offset(), refusal);
                    return End.PARTITION_STOPPED;
                }
                leftOut.add(first, refusal);
                hasHole = true;
                next++;
                continue;
            }
            if (hasHole) {
                settleRefused();
                awaitCommit();
            }
            List<ConsumerRecord<byte[], byte[]>> tried = read.subList(next, groupEnd(read, next));
            SendAttempt attempt = send(tried);
            progress.moveOverWritten(tried.subList(0, attempt.acknowledged()), attempt.targetEnd());
            next += attempt.acknowledged();
            if (attempt.acknowledged() == tried.size()) {
                group = Math.min(LARGEST_GROUP, group * 2);
            } else if (!onFailed(tried, attempt)) {
                return End.SEQUENCE_UNKNOWN;
            }
        }
        return null;
    }

    /** Returns the end of the records to try at once; none of them is known to be refused. */
    private int groupEnd(List<ConsumerRecord<byte[], byte[]>> read, int from) {
        int to = from;
        long bytes = 0;
        while (to < read.size()
                && to - from < group
                && !known.containsKey(read.get(to).offset())) {
            bytes += CopiedRecord.size(read.get(to));
            if (to > from && bytes > MAX_GROUP_BYTES) {
                break;
            }
            to++;
        }
        return to;
    }

    /** Decides how to go on after a failure; returns false if the sequence is wrong. */
    private boolean onFailed(List<ConsumerRecord<byte[], byte[]>> tried, SendAttempt attempt) {
        needsSequence = true;
        Throwable failure = attempt.failure();
        if (failure instanceof GivenUpException) {
            throw new StopException();
        } else if (ExactResume.isWrongSequence(failure)) {
            return false;
        } else if (attempt.isRefusedForNow()) {
            if (!(failure instanceof BufferExhaustedException)) {
                context.targets().onMissing(partition);
            }
            pause();
        } else if (!RefusedRecordReport.isRefusal(failure)) {
            throw MirrorException.failed(
                    "Could not write " + partition.topic() + " partition " + partition.partition() + " offset "
                            + tried.get(attempt.acknowledged()).offset(),
                    failure);
        } else if (!attempt.noteRefused(tried, known)) {
            group = Math.max(1, tried.size() / 2);
        }
        return true;
    }

    private SendAttempt send(List<ConsumerRecord<byte[], byte[]>> records) {
        while (!context.targets().isReady(partition) || !trySetSequence()) {
            pauseUnlessStopped();
        }
        SendAttempt attempt = new SendAttempt();
        String to = context.names().onTarget(partition.topic());
        sending = true;
        try {
            if (stopped) {
                throw new StopException();
            }
            for (int i = 0; i < records.size() && !attempt.isRefusedAtOnce(); i++) {
                context.producer().send(CopiedRecord.of(records.get(i), to), attempt.add());
            }
        } finally {
            sending = false;
        }
        attempt.await();
        return attempt;
    }

    /**
     * Sets the sequence if necessary: after a failure the producer takes no more of the partition until it is set
     * again. Sets the codec, too: uncompressed, a record may be larger than the target takes.
     */
    private boolean trySetSequence() {
        if (needsSequence && context.trySetSequence(partition, progress.now().resumePoint())) {
            task.codecId().ifPresent(context.open(partition)::compressWith);
            needsSequence = false;
        }
        return !needsSequence;
    }

    private End leaveOut(UnreadableBatch batch) {
        if (policy == RefusalPolicy.STOP_PARTITION) {
            context.refused().onPartitionStopped(partition, batch.from(), batch.cause());
            return End.PARTITION_STOPPED;
        }
        leftOut.addAndAwait(batch);
        progress.moveTo(batch.next());
        awaitCommit();
        return End.COPIED;
    }

    /** Waits until dead letters are written, and moves the position after what was refused. */
    private void settleRefused() {
        leftOut.settle(progress::moveOverLeftOut);
    }

    /** Waits until all so far is committed. */
    private void awaitCommit() {
        progress.awaitCommit(this::throwIfStopped);
        hasHole = false;
    }

    private void pause() {
        try {
            Thread.sleep(PAUSE_MS);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    private void pauseUnlessStopped() {
        throwIfStopped();
        pause();
    }

    private void throwIfStopped() {
        if (stopped) {
            throw new StopException();
        }
    }

    // ---- the member's thread ----

    Task task() {
        return task;
    }

    /** Sends nothing more, except what it is about to send. */
    void stop() {
        stopped = true;
    }

    boolean isStopped() {
        return stopped;
    }

    /** Returns whether it is handing records to the producer now. */
    boolean isSending() {
        return sending;
    }

    SearchProgress progress() {
        return progress;
    }

    /** Returns null as long as the search runs. */
    End endOrNull() {
        return end;
    }

    /** Ends a search that will never run. */
    void abandon() {
        end = End.ABANDONED;
    }
}
