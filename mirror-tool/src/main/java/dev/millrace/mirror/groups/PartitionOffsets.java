package dev.millrace.mirror.groups;

import dev.millrace.mirror.offsets.OffsetRuns;
import dev.millrace.mirror.offsets.UncommittedRuns;
import dev.millrace.mirror.pass.AckedRuns;
import dev.millrace.mirror.progress.TopicIdentities;
import org.apache.kafka.common.Uuid;

/**
 * Where the records of a partition are that this process copies. Only what is before the position that the group has
 * committed counts: a member that was away, and no longer owns the partition, cannot commit, so what it has written
 * after the next owner's records is never shown. For the same reason nothing of an aborted transaction is.
 *
 * <p><b>Threads:</b> any. The lock is held for a few microseconds, also while all is copied for {@link #committedRuns}.
 */
final class PartitionOffsets {
    private final Uuid topicId;
    private final long sinceNanos;

    // Guarded by this.
    /** Of records before {@link #committed}. */
    private OffsetRuns runs = new OffsetRuns();
    /** Of records from there on. */
    private final UncommittedRuns uncommitted = new UncommittedRuns();

    private AckedRuns session = AckedRuns.IGNORED;
    private long committed = -1;
    /** The first position at which something was copied. */
    private long begunAt = Long.MAX_VALUE;
    /** The last one. */
    private long begunAgainAt;

    private Uuid targetId = Uuid.ZERO_UUID;
    private boolean isLoaded;
    private boolean hasChanged;

    PartitionOffsets(Uuid topicId, long nowNanos) {
        this.topicId = topicId;
        this.sinceNanos = nowNanos;
    }

    Uuid topicId() {
        return topicId;
    }

    /** When this process began to copy the partition. */
    long sinceNanos() {
        return sinceNanos;
    }

    // ---- members ----

    /** Copying begins at this position, or begins there again; what a former copy is told yet does not count. */
    synchronized AckedRuns begin(long position) {
        runs.begin(position);
        uncommitted.clear();
        committed = position;
        begunAt = Math.min(begunAt, position);
        begunAgainAt = position;
        AckedRuns begun = new AckedRuns() {
            @Override
            public void onAcknowledged(long source, long target, int count) {
                append(this, source, target, count);
            }
        };
        session = begun;
        return begun;
    }

    @SuppressWarnings("ReferenceEquality") // each is another one
    private synchronized void append(AckedRuns from, long source, long target, int count) {
        if (from != session) {
            return;
        }
        if (source < committed) {
            goBack(source);
        }
        uncommitted.add(source, target, count);
    }

    /** A position before one that is known to be committed says nothing new: it was sent earlier. */
    synchronized void onCommitted(long position) {
        if (position > committed) {
            uncommitted.moveBefore(position, runs);
            if (session != AckedRuns.IGNORED) {
                runs.moveEnd(position);
            }
            committed = position;
            hasChanged = true;
        }
    }

    /** The log was truncated, or somebody has moved the position: what is from there on is copied again. */
    private void goBack(long position) {
        if (position < runs.end()) {
            runs.begin(position);
        }
        begunAt = Math.min(begunAt, position);
        committed = position;
        hasChanged = true;
    }

    /** Nothing is noted until it begins again. */
    synchronized void end() {
        session = AckedRuns.IGNORED;
    }

    // ---- who keeps and uses it ----

    synchronized boolean isLoaded() {
        return isLoaded;
    }

    /**
     * Takes what former owners knew, which is empty if they knew nothing; it is changed.
     *
     * @param target id of the target's topic; zero if unknown
     */
    synchronized void load(OffsetRuns stored, Uuid target) {
        stored.begin(begunAt);
        if (runs.isEmpty()) {
            stored.begin(begunAgainAt);
        } else {
            stored.appendAll(runs);
        }
        runs = stored;
        targetId = target;
        isLoaded = true;
    }

    /** The id of the target's topic that has the records; zero if unknown. */
    synchronized Uuid targetId() {
        return targetId;
    }

    /** Forgets all if the target's topic, unless it is unknown, has another id than before; returns whether it has. */
    synchronized boolean forgetIfReplaced(Uuid target) {
        boolean isReplaced = TopicIdentities.differ(targetId, target);
        if (isReplaced) {
            runs = new OffsetRuns();
            uncommitted.clear();
            hasChanged = true;
        }
        if (!target.equals(Uuid.ZERO_UUID)) {
            targetId = target;
        }
        return isReplaced;
    }

    /** What may be shown. */
    OffsetRuns committedRuns() {
        OffsetRuns copy;
        long lostFrom;
        synchronized (this) {
            copy = runs.copy();
            lostFrom = uncommitted.leastTarget();
        }
        copy.truncate(lostFrom); // new records stand there: the target has lost some
        return copy;
    }

    synchronized int size() {
        return runs.size();
    }

    /** Whether there is something to keep. */
    synchronized boolean hasChanged() {
        return isLoaded && hasChanged;
    }

    /** As the other; from now on, only what is new counts. */
    synchronized boolean takeChanged() {
        boolean changed = hasChanged();
        hasChanged &= !changed;
        return changed;
    }

    /** What was taken is not kept. */
    synchronized void onNotKept() {
        hasChanged = true;
    }

    /** The committed position, if it is not known which target offset belongs to it; else -1. */
    synchronized long positionWithoutAnchor() {
        return isLoaded && uncommitted.isEmpty() && !runs.isEndKnown() ? committed : -1;
    }

    /** All records before this source position are before this target offset, and none from there on is copied yet. */
    synchronized void anchor(long source, long target) {
        if (source == committed && uncommitted.isEmpty()) {
            runs.anchor(source, target);
            hasChanged = true;
        }
    }

    /** The source no longer has what is before this offset. */
    synchronized void dropBefore(long source) {
        runs.dropBefore(source);
    }
}
