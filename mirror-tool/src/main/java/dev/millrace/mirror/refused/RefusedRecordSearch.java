package dev.millrace.mirror.refused;

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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;

/**
 * Copies a stretch of a partition again, of which the target has refused something: a few records at a time, each time
 * waiting for the outcome, until it is known which records the target refuses. To these the {@link RefusalPolicy}
 * applies.
 *
 * <p>Nothing is written twice: all numbers are given, so after a batch that was refused the target takes nothing of the
 * partition until it is told where to go on. A refused record leaves no hole in the numbers; after it the position is
 * committed before the next record is sent, so that a process that is started after a kill does not count it.
 *
 * <p><b>Threads:</b> {@link #run} in one, which blocks; the member's thread calls the rest.
 * <p><b>Ordering:</b> what both use is volatile. {@code run} sets {@code sending} and then reads {@code stopped}; {@link
 * #stop} sets {@code stopped} before {@link #isSending} reads the other.
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
    private volatile Progress progress;
    private volatile Commit commit;
    private volatile End end;

    // Of run.
    private final Map<Long, Throwable> known = new HashMap<>();
    private final RefusedRecordHandler leftOut;
    private boolean mustNumber = true;
    private boolean hasHole;
    private int group = FIRST_GROUP;

    /**
     * What to copy.
     *
     * @param start where it begins
     * @param until the source offset before which it ends
     * @param numbers of the record at the start
     * @param written how many of the first records the target has already
     * @param records how many there are, if {@code written} is not 0
     * @param unreadableOrNull the batch that is to be left out; then nothing is read
     */
    public record Task(
            TopicPartition partition,
            SourcePositions.Start start,
            long until,
            ResumePoint numbers,
            int written,
            int records,
            UnreadableBatch unreadableOrNull) {}

    /** What all of them use. */
    public record Context(
            Producer<byte[], byte[]> producer,
            TopicNames names,
            StretchReaders readers,
            TargetPartitions targets,
            RefusedRecordReport refused,
            DeadLetters deadLetters,
            NewProducerEpochs newNumbers,
            Consumer<Throwable> onFailure) {
        /**
         * Sets the numbers of the partition's next record, of which none waits to be sent. Returns false if the
         * producer does not find the partition now. Blocks for {@code max.block.ms} at most.
         */
        public boolean tryNumber(TopicPartition partition, ResumePoint numbers) {
            try {
                RawProducer.of(producer)
                        .partition(names.onTarget(partition.topic()), partition.partition())
                        .numberFrom(new RawProducerId(numbers.producerId(), numbers.epoch()), numbers.nextSequence());
                return true;
            } catch (RetriableException e) {
                targets.onMissing(partition);
                return false;
            }
        }
    }

    /**
     * How far it is: before the position all is written, or left out as the policy says.
     *
     * @param numbers of the record there
     * @param written records so far
     * @param bytes of these
     */
    record Progress(OffsetAndMetadata position, ResumePoint numbers, long written, long bytes) {}

    /** It waits until this is committed. */
    record Commit(Progress progress, CompletableFuture<Void> done) {}

    /** How it ended. */
    enum End {
        /** All is copied, and the position after it is committed. */
        COPIED,
        /** The target expects other numbers, or what is there is not what was there before: it has to be asked. */
        NUMBERS_UNKNOWN,
        /** The policy says that nothing more is copied. */
        PARTITION_STOPPED,
        /** It was told to stop, or has failed. */
        ABANDONED
    }

    RefusedRecordSearch(Task task, Context context) {
        this.task = task;
        this.context = context;
        this.partition = task.partition();
        this.policy = context.refused().policies().of(partition.topic());
        this.leftOut =
                new RefusedRecordHandler(partition, context.refused(), context.deadLetters(), this::pauseUnlessStopped);
        this.progress = new Progress(
                new OffsetAndMetadata(task.start().offset(), task.start().leaderEpoch(), ""), task.numbers(), 0, 0);
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

    /** Ends what {@link #run} does, from wherever it is. */
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
                return End.NUMBERS_UNKNOWN;
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
            publish(new OffsetAndMetadata(reader.position(), progress.position().leaderEpoch(), ""));
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
        long from = progress.position().offset();
        publish(all.subList(0, task.written()), ResumePoint.UNKNOWN);
        reader.begin(partition, Math.max(from, progress.position().offset()), task.until());
        return true;
    }

    /** Returns null if all are copied, or how it ended. */
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
            publish(tried.subList(0, attempt.acknowledged()), attempt.targetEnd());
            next += attempt.acknowledged();
            if (attempt.acknowledged() == tried.size()) {
                group = Math.min(LARGEST_GROUP, group * 2);
            } else if (!onFailed(tried, attempt)) {
                return End.NUMBERS_UNKNOWN;
            }
        }
        return null;
    }

    /** As many as are tried at once; none of them is known to be refused. */
    private int groupEnd(List<ConsumerRecord<byte[], byte[]>> read, int from) {
        int to = from;
        long bytes = 0;
        while (to < read.size()
                && to - from < group
                && !known.containsKey(read.get(to).offset())) {
            bytes += size(read.get(to));
            if (to > from && bytes > MAX_GROUP_BYTES) {
                break;
            }
            to++;
        }
        return to;
    }

    private static long size(ConsumerRecord<byte[], byte[]> record) {
        return (long) Math.max(0, record.serializedKeySize()) + Math.max(0, record.serializedValueSize());
    }

    /** Finds out what to do differently; returns false if the numbers are wrong. */
    private boolean onFailed(List<ConsumerRecord<byte[], byte[]>> tried, SendAttempt attempt) {
        mustNumber = true;
        Throwable failure = attempt.failure();
        if (failure instanceof GivenUpException) {
            throw new StopException();
        } else if (ExactResume.isOfNumbers(failure)) {
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
        while (!context.targets().isReady(partition) || !tryNumber()) {
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

    /** After a failure the producer takes no more of the partition until it has numbers again. */
    private boolean tryNumber() {
        mustNumber = mustNumber && !context.tryNumber(partition, progress.numbers());
        return !mustNumber;
    }

    private End leaveOut(UnreadableBatch batch) {
        if (policy == RefusalPolicy.STOP_PARTITION) {
            context.refused().onPartitionStopped(partition, batch.from(), batch.cause());
            return End.PARTITION_STOPPED;
        }
        leftOut.addAndAwait(batch);
        publish(new OffsetAndMetadata(batch.next(), progress.position().leaderEpoch(), ""));
        awaitCommit();
        return End.COPIED;
    }

    /** Waits until dead letters are written, and moves the position after what was refused. */
    private void settleRefused() {
        leftOut.settle(record -> publish(after(record)));
    }

    // ---- progress ----

    private static OffsetAndMetadata after(ConsumerRecord<byte[], byte[]> record) {
        return new OffsetAndMetadata(record.offset() + 1, record.leaderEpoch(), "");
    }

    private void publish(List<ConsumerRecord<byte[], byte[]>> written, long targetEnd) {
        if (!written.isEmpty()) {
            Progress before = progress;
            OffsetAndMetadata position = after(written.get(written.size() - 1));
            progress = new Progress(
                    position,
                    before.numbers().after(written.size(), position.offset(), targetEnd),
                    before.written() + written.size(),
                    before.bytes()
                            + written.stream()
                                    .mapToLong(RefusedRecordSearch::size)
                                    .sum());
        }
    }

    /** Moves over what is not written. */
    private void publish(OffsetAndMetadata position) {
        Progress before = progress;
        ResumePoint numbers = before.numbers();
        progress = new Progress(
                position,
                numbers.after(0, position.offset(), numbers.targetOffset()),
                before.written(),
                before.bytes());
    }

    private void awaitCommit() {
        Commit wanted = new Commit(progress, new CompletableFuture<>());
        commit = wanted;
        while (!isDone(wanted.done())) {
            throwIfStopped();
        }
        commit = null;
        hasHole = false;
    }

    private static boolean isDone(CompletableFuture<Void> future) {
        try {
            future.get(PAUSE_MS, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
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

    /** Whether it hands something to the producer just now. */
    boolean isSending() {
        return sending;
    }

    Progress progress() {
        return progress;
    }

    /** What it waits for, or null. */
    Commit commitOrNull() {
        return commit;
    }

    /** Null as long as it runs. */
    End endOrNull() {
        return end;
    }

    /** It will never run. */
    void abandon() {
        end = End.ABANDONED;
    }
}
