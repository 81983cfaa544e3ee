package dev.millrace.mirror.refused;

import dev.millrace.mirror.pass.CopiedRecord;
import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import dev.millrace.mirror.progress.SourcePositions;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.errors.InterruptException;

/**
 * How far a {@link RefusedRecordSearch} is. The search moves it over each record that is written or left out, and waits
 * where that must be committed; {@link RefusedRecordSearches} commits and counts it.
 *
 * <p><b>Threads:</b> the thread of the search moves it and waits; the member's thread calls {@link #now} and {@link
 * #commitOrNull}, and completes that commit.
 * <p><b>Ordering:</b> both fields are volatile, and only the thread of the search writes them.
 */
final class SearchProgress {
    private static final long CHECK_MS = 50;

    private volatile Snapshot now;
    private volatile Commit commit;

    /**
     * All before the position is written, or left out according to the policy.
     *
     * @param resumePoint producer id, epoch and sequence of the record there
     * @param written records so far
     * @param bytes of these
     */
    record Snapshot(OffsetAndMetadata position, ResumePoint resumePoint, long written, long bytes) {}

    /** The search waits until this progress is committed. */
    record Commit(Snapshot progress, CompletableFuture<Void> done) {}

    /** @param resumePoint producer id, epoch and sequence of the record at the start */
    SearchProgress(SourcePositions.Start start, ResumePoint resumePoint) {
        now = new Snapshot(new OffsetAndMetadata(start.offset(), start.leaderEpoch(), ""), resumePoint, 0, 0);
    }

    Snapshot now() {
        return now;
    }

    /**
     * Moves over records that are written.
     *
     * @param targetEnd the target offset after the last of them, or {@link ResumePoint#UNKNOWN}
     */
    void moveOverWritten(List<ConsumerRecord<byte[], byte[]>> written, long targetEnd) {
        if (!written.isEmpty()) {
            Snapshot before = now;
            OffsetAndMetadata position = after(written.get(written.size() - 1));
            now = new Snapshot(
                    position,
                    before.resumePoint().after(written.size(), position.offset(), targetEnd),
                    before.written() + written.size(),
                    before.bytes()
                            + written.stream().mapToLong(CopiedRecord::size).sum());
        }
    }

    /** Moves over a record that is left out. */
    void moveOverLeftOut(ConsumerRecord<byte[], byte[]> record) {
        moveTo(after(record));
    }

    /** Moves to an offset before which nothing more is to be written. */
    void moveTo(long offset) {
        moveTo(new OffsetAndMetadata(offset, now.position().leaderEpoch(), ""));
    }

    private void moveTo(OffsetAndMetadata position) {
        Snapshot before = now;
        ResumePoint resumePoint = before.resumePoint();
        now = new Snapshot(
                position,
                resumePoint.after(0, position.offset(), resumePoint.targetOffset()),
                before.written(),
                before.bytes());
    }

    private static OffsetAndMetadata after(ConsumerRecord<byte[], byte[]> record) {
        return new OffsetAndMetadata(record.offset() + 1, record.leaderEpoch(), "");
    }

    /**
     * Waits until all so far is committed.
     *
     * @param check is called again and again meanwhile; may throw to end the wait
     */
    void awaitCommit(Runnable check) {
        Commit wanted = new Commit(now, new CompletableFuture<>());
        commit = wanted;
        while (!isDone(wanted.done())) {
            check.run();
        }
        commit = null;
    }

    private static boolean isDone(CompletableFuture<Void> future) {
        try {
            future.get(CHECK_MS, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the commit that the search waits for, or null. */
    Commit commitOrNull() {
        return commit;
    }
}
